import type { ContentBlock, Reply, ToolDescription } from "@haft/core"
import type { CallToolResult, Tool } from "@modelcontextprotocol/server"

export interface McpToolOptions {
  /**
   * True if `tools/list` shows the schemas of replies, or only that each is an object, which saves context. As the
   * dialect says by default.
   */
  readonly outputSchemas?: boolean
  /**
   * Answers with the text for the model alone, without structured content and its schema. Claude's clients, for example,
   * hand structured content to the model in place of the text.
   */
  readonly textOnly?: boolean
}

/** A tool as `tools/list` shows it. */
export const mcpTool = (tool: ToolDescription, name: string, options: McpToolOptions = {}): Tool => {
  const { outputSchemas = tool.hidesReplySchema !== true, textOnly = false } = options
  const title = titleOf(tool.name)
  return {
    name,
    title,
    description: tool.description,
    inputSchema: { type: "object", ...tool.inputSchema },
    ...(!textOnly && { outputSchema: { type: "object", ...(outputSchemas && tool.replySchema) } }),
    annotations: {
      title,
      readOnlyHint: tool.risk === "read_only",
      destructiveHint: tool.risk === "dangerous",
      idempotentHint: tool.idempotent,
      openWorldHint: tool.openWorld
    }
  }
}

/** A title for people: `read_file` becomes "Read file", `readFile` and `file.read` likewise. */
const titleOf = (name: string): string => {
  const words = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ")
    .split(/[\s._-]+/)
    .filter((word) => word !== "")
    .map((word) => (acronyms.has(word.toLowerCase()) ? word.toUpperCase() : word.toLowerCase()))
    .join(" ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const acronyms = new Set(["api", "html", "http", "id", "json", "pdf", "url"])

/**
 * A reply as `tools/call` answers it. The first block is the text for people, unless the answer has none; what an approver
 * said is a last block of its own, as not every dialect's envelope has room for it.
 */
export const mcpResult = (
  { text, blocks, wire, ok, notes = [] }: Reply,
  { textOnly = false }: McpToolOptions = {}
): CallToolResult => ({
  content: [
    ...(text === "" || blocks[0]?.type === "text" ? [] : [{ type: "text" as const, text }]),
    ...blocks.map(mcpBlock),
    ...(notes.length === 0 ? [] : [{ type: "text" as const, text: notes.join("\n") }])
  ],
  ...(!textOnly && { structuredContent: wire }),
  isError: !ok
})

const mcpBlock = (block: ContentBlock): CallToolResult["content"][number] => {
  if (block.type !== "resource") return block
  const { type, ...resource } = block
  return { type, resource }
}
