import type { Command } from "../command.ts"
import { withHost } from "../host.ts"

export const mcp: Command = {
  name: "mcp",
  summary: "speak MCP on stdin and stdout",
  examples: ["haft mcp --workspace ~/project", "claude mcp add haft -- haft mcp --workspace ~/project"],
  run: (given) =>
    withHost(given, {}, async (host) => {
      const [{ mcpServer, serveMcpOnStdio }, { describeQuestion }] = await Promise.all([
        import("haft/mcp"),
        import("haft")
      ])
      const howToAllow = "Allow it with a rule (haft rules add), or start haft mcp with --approve all."
      const { closed, close } = serveMcpOnStdio(
        mcpServer(host, { version: given.version, howToAllow, describe: describeQuestion })
      )
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => void close())
      await closed
      return 0
    })
}
