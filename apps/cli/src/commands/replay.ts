import type { Command } from "../command.ts"
import { configOf } from "../host.ts"
import { print } from "../terminal.ts"

export const replay: Command = {
  name: "replay",
  summary: "make the calls of a run again, in the workspace as it is now",
  takes: "[RUN]",
  examples: ["haft replay --approve all", "haft replay 20261116T101500-1f2e3d4c --approve all --workspace copy"],
  run: async (given) => {
    const { replayRun } = await import("haft")
    const { config } = await configOf(given)
    let differing = 0
    await replayRun(config, given.positionals[0], ({ call, reply, skipped, isSame }) => {
      if (!isSame) differing++
      if (given.has("json"))
        return print(JSON.stringify({ call: call.requestId, tool: call.tool, isSame, skipped, reply: reply?.wire }))
      const mark = isSame ? "✓" : "✗"
      return print(
        `${mark} ${call.step} ${call.tool}: was ${call.status}, ${skipped ?? `now ${reply?.ok === true ? "success" : `error (${reply?.error?.code})`}`}`
      )
    })
    return differing === 0 ? 0 : 1
  }
}
