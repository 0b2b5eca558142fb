import type { HaftConfig } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf, openHostFor } from "../host.ts"
import { listedTools } from "../listed-tools.ts"

export const mcp: Subcommand = {
  name: "mcp",
  summary: "speak MCP on stdin and stdout",
  takes: "[DIR…]",
  options: {
    "output-schemas": { describe: "show clients the schemas of replies, which cost context" },
    "text-only": { describe: "answer with text alone, for clients that show the model structured content instead" }
  },
  examples: [
    "haft mcp --workspace ~/project",
    "haft mcp --dialect mcp-filesystem ~/project ~/notes",
    "claude mcp add haft -- haft mcp --workspace ~/project"
  ],
  run: async (given) => {
    const { config } = await configOf(given, { directories: directoriesOf(given) })
    const [{ openHostLater }, { speakMcp }] = await Promise.all([import("haft/promise"), import("../speak-mcp.ts")])
    const tools = await knownTools(config)
    const host = await (tools === undefined
      ? openHostFor(config)
      : openHostLater(config, tools, () => openHostFor(config)))
    try {
      await speakMcp(host, {
        version: given.version,
        ...(given.has("output-schemas") && { outputSchemas: true }),
        ...(given.has("text-only") && { textOnly: true })
      })
    } finally {
      await host.dispose()
    }
    return 0
  }
}

// The reference filesystem server is given its directories as arguments, so a drop-in takes them there, too.
const directoriesOf = ({ positionals, has }: Given): ReadonlyArray<string> => {
  if (positionals.length === 0 || !has("workspace")) return positionals
  throw new UsageError("--workspace and a directory can't be combined. Give one of them.")
}

// The tools, if they are known before a host is open: with plugins, a dialect or packages of the user's own they are
// not.
const knownTools = async ({ dialect = "haft", plugins = [], packages }: HaftConfig) =>
  typeof dialect !== "string" || plugins.length > 0 || packages !== undefined ? undefined : listedTools(dialect)
