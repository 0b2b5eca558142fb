import type { Command } from "../command.ts"
import { withHost } from "../host.ts"
import { print, printJson, styled, table } from "../terminal.ts"

const formats = ["table", "json", "openai", "anthropic", "mcp"] as const

export const tools: Command = {
  name: "tools",
  summary: "the dialect's tools, with their schemas",
  options: {
    format: { value: "FORMAT", describe: `one of ${formats.join(", ")} (table)`, choices: formats, short: "f" }
  },
  examples: ["haft tools", "haft tools --dialect agentbench --format openai"],
  run: (given) =>
    withHost(given, {}, async ({ tools }) => {
      const format = given.value("format") ?? (given.has("json") ? "json" : "table")
      if (format === "table") {
        const rows = tools.map(({ name, risk, description }) => [name, risk, description.replaceAll("\n", " ")])
        print(table([["TOOL", "RISK", "WHAT"].map((head) => styled(process.stdout, "bold", head)), ...rows]))
        return 0
      }
      const { exportTools } = await import("haft")
      printJson(exportTools(tools, format as "json" | "openai" | "anthropic" | "mcp"))
      return 0
    })
}
