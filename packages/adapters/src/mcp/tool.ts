import type { Reply, ToolDescription } from "@haft/core"
import type { CallToolResult, Tool } from "@modelcontextprotocol/server"

/** A tool as `tools/list` shows it. */
export const mcpTool = (tool: ToolDescription, name: string): Tool => ({
  name,
  description: tool.description,
  inputSchema: { type: "object", ...tool.inputSchema },
  outputSchema: { type: "object", ...tool.replySchema },
  annotations: {
    readOnlyHint: tool.risk === "read_only",
    destructiveHint: tool.risk === "dangerous",
    idempotentHint: tool.idempotent,
    openWorldHint: tool.openWorld
  }
})

/** A reply as `tools/call` answers it. */
export const mcpResult = (reply: Reply): CallToolResult => ({
  content: [{ type: "text", text: reply.text }],
  structuredContent: reply.wire,
  isError: !reply.ok
})
