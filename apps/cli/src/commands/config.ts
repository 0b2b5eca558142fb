import { type Subcommand, UsageError } from "../command.ts"
import { configOf, overridesOf } from "../host.ts"
import { print, printJson } from "../terminal.ts"

export const config: Subcommand = {
  name: "config",
  summary: "the configuration in force, and trust in the workspace's own",
  takes: "[show | trust]",
  atMost: 1,
  subcommands: ["show", "trust"],
  examples: ["haft config", "haft config trust"],
  run: async (given) => {
    const [verb = "show"] = given.positionals
    if (verb === "trust") {
      const { trustConfig } = await import("haft/internal")
      const file = await trustConfig(overridesOf(given))
      if (given.has("json")) printJson({ trusted: file })
      else print(`Trusted, as it is now: ${file}`)
      return 0
    }
    if (verb !== "show") throw new UsageError(`unknown subcommand '${verb}'; expected show or trust`)
    const { config, file } = await configOf(given)
    const shown = JSON.stringify(config, inShort, 2)
    if (given.has("json")) printJson({ file: file ?? null, config: JSON.parse(shown) as unknown })
    else print(`${file === undefined ? "No configuration file." : file}\n${shown}`)
    return 0
  }
}

// In a configuration in TypeScript plugins and dialects are objects with functions: only their names are shown.
const inShort = (_key: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if ("~haft/Plugin" in value) {
    const { name, version } = value as { readonly name?: unknown; readonly version?: unknown }
    return { name, version }
  }
  return "errorNames" in value && "name" in value ? value.name : value
}
