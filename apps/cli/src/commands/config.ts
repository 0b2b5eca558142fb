import { type Command, UsageError } from "../command.ts"
import { configOf, overridesOf } from "../host.ts"
import { print, printJson } from "../terminal.ts"

export const config: Command = {
  name: "config",
  summary: "the configuration in force, and trust in the workspace's own",
  takes: "[show | trust]",
  atMost: 1,
  subcommands: ["show", "trust"],
  examples: ["haft config", "haft config trust"],
  run: async (given) => {
    const [verb = "show"] = given.positionals
    if (verb === "trust") {
      const { trustConfig } = await import("haft")
      print(`Trusted, as it is now: ${await trustConfig(overridesOf(given))}`)
      return 0
    }
    if (verb !== "show") throw new UsageError(`haft config can show or trust, not '${verb}'`)
    const { config, file } = await configOf(given)
    if (given.has("json")) printJson({ file: file ?? null, config })
    else print(`${file === undefined ? "No configuration file." : file}\n${JSON.stringify(config, null, 2)}`)
    return 0
  }
}
