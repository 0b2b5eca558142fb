import type { Command } from "../command.ts"
import { withHost } from "../host.ts"

export const mcp: Command = {
  name: "mcp",
  summary: "speak MCP on stdin and stdout",
  examples: ["haft mcp --workspace ~/project", "claude mcp add haft -- haft mcp --workspace ~/project"],
  run: (given) =>
    withHost(given, {}, async (host) => {
      const { speakMcp } = await import("../speak-mcp.ts")
      await speakMcp(host, given.version)
      return 0
    })
}
