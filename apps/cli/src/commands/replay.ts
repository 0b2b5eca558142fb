import type { Command } from "../command.ts"
import { configOf } from "../host.ts"
import { print, printJson } from "../terminal.ts"

export const replay: Command = {
  name: "replay",
  summary: "make the calls of a run again, and compare the replies",
  takes: "[RUN]",
  options: { into: { value: "DIR", describe: "work there, in a copy of the workspace, instead of in the workspace" } },
  examples: ["haft replay --approve all", "haft replay 20261116T101500-1f2e3d4c --into ../copy --approve all"],
  run: async (given) => {
    const [{ replayRun }, { config }] = await Promise.all([import("haft"), configOf(given)])
    const [run] = given.positionals
    const into = given.value("into")
    const replayed = await replayRun(config, { ...(run !== undefined && { run }), ...(into !== undefined && { into }) })
    if (given.has("json")) printJson(replayed)
    else {
      for (const { call, outcome, differences, whySkipped } of replayed) {
        print(`${outcome === "different" ? "✗" : "✓"} #${call.step} ${call.tool}: ${whySkipped ?? outcome}`)
        for (const { where, recorded, replayed: now } of differences) {
          print(`    ${where || "the reply"} was ${JSON.stringify(recorded)}, is ${JSON.stringify(now)}`)
        }
      }
    }
    return replayed.some(({ outcome }) => outcome === "different") ? 1 : 0
  }
}
