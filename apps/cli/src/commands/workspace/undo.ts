import type { Subcommand } from "../../command.ts"
import { withHost } from "../../host.ts"
import { forScreen, note, print, printJson } from "../../terminal.ts"

export const undo: Subcommand = {
  name: "undo",
  summary: "take back what a call changed",
  takes: "[CALL]",
  atMost: 1,
  options: {
    run: { value: "RUN", describe: "take back a whole run" },
    since: { value: "TIME", describe: "take back every call since this time (ISO 8601)" }
  },
  examples: [
    "haft undo",
    "haft undo 20261116T101500-1f2e3d4c-3",
    "haft undo --run 20261116T101500-1f2e3d4c",
    "haft undo --since 2026-11-16T10:15:00Z"
  ],
  // Nobody is asked: the person who types this has decided already. The tool exists only in the haft dialect.
  run: (given) => {
    const [call] = given.positionals
    const run = given.value("run")
    const since = given.value("since")
    const args = {
      ...(call !== undefined && { call }),
      ...(run !== undefined && { run }),
      ...(since !== undefined && { since })
    }
    return withHost(given, { approval: "all", dialect: "haft", upwards: true }, async (host) => {
      const reply = await host.call("undo", args)
      if (given.has("json")) printJson(reply.wire)
      else if (reply.ok) print(process.stdout.isTTY ? `✓ ${forScreen(process.stdout, reply.text)}` : reply.text)
      else note(`✗ ${forScreen(process.stderr, reply.text)}`)
      return reply.ok ? 0 : 1
    })
  }
}
