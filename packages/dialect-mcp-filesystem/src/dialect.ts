import { defineDialect, type Dialect, type Failure, type JsonSchema, singleLine, type ToolError } from "@haft/core"

/** The release of `@modelcontextprotocol/server-filesystem` that the tools follow. */
export const followedRelease = "2026.8.31"

/**
 * The contract of the reference MCP filesystem server: `{ content }`, a text that is also the answer's only content
 * block. A failure is the text that the server would throw.
 */
export const mcpFilesystem: Dialect<"mcp-filesystem"> = defineDialect({
  name: "mcp-filesystem",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  wording: {
    // Paths that plainly lie outside are refused by the tools, which name the allowed directories.
    path_outside_workspace: (error) =>
      isWorded(error)
        ? error.message
        : `Access denied - symlink target outside allowed directories: ${singleLine(pathOf(error))}`
  },
  success: ({ output, isForeign, text }) => (isForeign ? { content: text } : output),
  // The schema of one tool has a list there; the text is in the content block.
  failure: (failure) => ({ content: failure.call.tool === "read_media_file" ? [] : failureText(failure) }),
  // The server publishes no ban on further parameters. They are refused all the same: nobody would know what they mean.
  publishInput: (schema) => withoutBan(schema) as JsonSchema,
  failureText: (failure) => failureText(failure),
  envelope: (output) => {
    const { properties } = output
    return typeof properties === "object" && properties !== null && "content" in properties ? output : contentOnly
  }
})

// Without parameters the ban stays: only with it can such a tool be called in strict mode.
const withoutBan = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutBan)
  if (typeof schema !== "object" || schema === null) return schema
  const { properties } = schema as { readonly properties?: object }
  const isBanned = (key: string): boolean => key === "additionalProperties" && Object.keys(properties ?? {}).length > 0
  const entries = Object.entries(schema).filter(([key]) => !isBanned(key))
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutBan(value)]))
}

const contentOnly = { type: "object", properties: { content: { type: "string" } }, required: ["content"] }

const failureText = ({ call, error }: Failure): string => {
  const message = isWorded(error) ? error.message : error.message.split("\n").map(singleLine).join("\n  ")
  const words = error.suggestion === undefined ? message : `${message}\n${error.suggestion}`
  if (error.code !== "invalid_params") return words
  return `MCP error -32602: Input validation error: Invalid arguments for tool ${call.tool}: ${words}`
}

/** True for a message in the server's own words: it is handed out as it is. Others may quote a name with line breaks. */
const isWorded = ({ details }: ToolError): boolean => details?.["worded"] === true

const pathOf = ({ details }: ToolError): string => (typeof details?.["path"] === "string" ? details["path"] : "")
