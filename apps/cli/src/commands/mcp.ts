import type { HaftConfig } from "haft"

import type { Command } from "../command.ts"
import { configOf, openHostFor } from "../host.ts"
import { listedTools } from "../listed-tools.ts"

export const mcp: Command = {
  name: "mcp",
  summary: "speak MCP on stdin and stdout",
  examples: ["haft mcp --workspace ~/project", "claude mcp add haft -- haft mcp --workspace ~/project"],
  run: async (given) => {
    const { config } = await configOf(given)
    const [{ openHostLater }, { speakMcp }] = await Promise.all([import("haft/promise"), import("../speak-mcp.ts")])
    const tools = await toolsKnown(config)
    const host = await (tools === undefined
      ? openHostFor(config)
      : openHostLater(config, tools, () => openHostFor(config)))
    try {
      await speakMcp(host, given.version)
    } finally {
      await host.dispose()
    }
    return 0
  }
}

// What plugins bring is known when they are loaded, and which packages are left out when they are chosen.
const toolsKnown = async ({ dialect = "haft", plugins = [], packages }: HaftConfig) =>
  typeof dialect !== "string" || plugins.length > 0 || packages !== undefined ? undefined : listedTools(dialect)
