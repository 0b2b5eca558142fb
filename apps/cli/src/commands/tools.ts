import type { Subcommand } from "../command.ts"
import { withHost } from "../host.ts"
import { table } from "../table.ts"
import { forScreen, note, print, printJson, styled } from "../terminal.ts"

const formats = ["table", "json", "openai", "anthropic", "gemini", "mcp"] as const

export const tools: Subcommand = {
  name: "tools",
  summary: "the dialect's tools, with their schemas",
  options: {
    format: { value: "FORMAT", describe: `one of ${formats.join(", ")} (table)`, choices: formats, short: "f" }
  },
  examples: ["haft tools", "haft tools --dialect agentbench --format openai"],
  run: (given) =>
    withHost(given, {}, async ({ tools, dialect }) => {
      const format = given.value("format") ?? (given.has("json") ? "json" : "table")
      if (format === "table") {
        // The words of a plugin, or of an MCP server behind it, may contain anything.
        const shown = (text: string): string => forScreen(process.stdout, text).replaceAll(/\s+/g, " ")
        const listed = tools.filter(({ deferred }) => deferred !== true)
        const rows = listed.map(({ name, risk, description }) => [shown(name), risk, shown(description)])
        print(table([["TOOL", "RISK", "WHAT"].map((head) => styled(process.stdout, "bold", head)), ...rows]))
        if (listed.length < tools.length) {
          note(`\n${tools.length - listed.length} more that find_tools finds: haft tools --profile all`)
        }
        if (process.stdout.isTTY) note("\nWhat one of them takes: haft call TOOL --help")
        return 0
      }
      const { exportTools } = await import("haft/internal")
      printJson(exportTools(tools, format as "json" | "openai" | "anthropic" | "gemini" | "mcp", dialect.name))
      return 0
    })
}
