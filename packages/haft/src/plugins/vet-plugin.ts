import { type ConfiguredPlugin, type Dialect, PluginError, type Tool } from "@haft/core"

import { type PublishedTool, refusalsOf } from "../host/refusals.ts"

/** Refuses a plugin with a tool that a model's API would refuse. */
export const vetPlugin = (plugin: ConfiguredPlugin<unknown>, dialect: Dialect): void => {
  for (const tool of plugin.tools.filter((one) => one.dialect === dialect.name || one.dialect === "any")) {
    const [first] = refusalsOf(published(tool, dialect))
    if (first === undefined) continue
    throw new PluginError(plugin.name, `its tool '${tool.name}': ${first}. Use plainer names and types.`)
  }
}

const published = (tool: Tool<unknown>, dialect: Dialect): PublishedTool => ({
  name: tool.name,
  get inputSchema() {
    return dialect.publishInput?.(tool.inputSchema, tool) ?? tool.inputSchema
  },
  get replySchema() {
    return dialect.envelope(tool.outputSchema)
  }
})
