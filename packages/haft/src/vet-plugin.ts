import { legalNames, lintTool, type SchemaReader } from "@haft/adapters"
import { type ConfiguredPlugin, type Dialect, type JsonSchema, PluginError, type Tool } from "@haft/core"

/** Refuses a plugin with a tool that a model's API would refuse: one such tool makes the whole request fail there. */
export const vetPlugin = (plugin: ConfiguredPlugin<unknown>, dialect: Dialect): void => {
  const tools = plugin.tools.filter((tool) => tool.dialect === dialect.name || tool.dialect === "any")
  const { legal } = legalNames(tools.map(({ name }) => name))
  for (const tool of tools) {
    const parameters = parametersOf(plugin.name, tool, dialect)
    for (const reader of readers) {
      const [first] = lintTool({ name: legal(tool.name), parameters }, reader)
      if (first === undefined) continue
      const where = first.path === "" ? "" : ` at ${first.path}`
      throw new PluginError(
        plugin.name,
        `${reader} would refuse its tool '${tool.name}'${where}: ${first.problem}. Write its input with plainer types.`
      )
    }
  }
}

// Strict function calling is a service to those who can have it; the adapters do without where a schema can't say it.
const readers: ReadonlyArray<SchemaReader> = ["openai", "anthropic", "gemini"]

const parametersOf = (plugin: string, tool: Tool<unknown>, dialect: Dialect): JsonSchema => {
  try {
    return dialect.publishInput?.(tool.inputSchema, tool.name) ?? tool.inputSchema
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new PluginError(
      plugin,
      `the input of its tool '${tool.name}' can't be written as a JSON Schema: ${reason}. Use types that JSON has.`,
      { cause }
    )
  }
}
