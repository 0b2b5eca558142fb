import { legalNames, lintTool, type SchemaReader } from "@haft/adapters"
import { type JsonSchema, reasonOf } from "@haft/core"

/** A tool as models see it. A schema that can't be converted to JSON Schema throws when it is read. */
export interface PublishedTool {
  readonly name: string
  readonly inputSchema: JsonSchema
  readonly replySchema: JsonSchema
}

/** Why model APIs or MCP would refuse a tool. One such tool makes every request fail that offers it. */
export const refusalsOf = (tool: PublishedTool): ReadonlyArray<string> => {
  const parameters = written(() => tool.inputSchema)
  const reply = written(() => tool.replySchema)
  if (typeof parameters === "string") return [`its input can't be written as a JSON Schema: ${parameters}`]
  const name = legalNames([tool.name]).legal(tool.name)
  return [
    ...readers.flatMap((reader) => refusedBy(reader, { name, parameters })),
    ...(/^[A-Za-z0-9_./-]{1,128}$/.test(tool.name) ? [] : [`mcp would refuse the name '${tool.name}'`]),
    ...(typeof reply === "string" ? [`its output can't be written as a JSON Schema: ${reply}`] : []),
    ...(typeof reply === "string" || reply["type"] === "object" ? [] : ["mcp would refuse its output: it is no object"])
  ]
}

/** Why one API would refuse it. */
export const refusedBy = (
  reader: SchemaReader,
  tool: { readonly name: string; readonly parameters: JsonSchema }
): ReadonlyArray<string> =>
  lintTool(tool, reader).map(
    ({ path, problem }) => `${reader} would refuse it${path === "" ? "" : ` at ${path}`}: ${problem}`
  )

// Not openai-strict: where a schema does not fit strict function calling, the adapters do without that.
const readers: ReadonlyArray<SchemaReader> = ["openai", "anthropic", "gemini"]

const written = (schema: () => JsonSchema): JsonSchema | string => {
  try {
    return schema()
  } catch (cause) {
    return reasonOf(cause)
  }
}
