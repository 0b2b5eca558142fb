import { lintTool, legalNames, schemaReaders } from "@haft/adapters"
import { type ConfiguredPlugin, type JsonSchema, PluginError, type Tool, type ToolError, Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import * as Effect from "effect/Effect"

import type { HaftConfig, StandardServices } from "./config.ts"
import { loadPlugins } from "./load-plugins.ts"
import { standardPlugins } from "./packages.ts"
import { pluginFiles } from "./plugin-files.ts"
import { rootOf } from "./standard-host.ts"

/** The plugins a configuration names, haft's own included, in the order of their tools. */
export const pluginsOf = async (
  config: HaftConfig = {}
): Promise<ReadonlyArray<ConfiguredPlugin<StandardServices>>> => [
  ...standardPlugins(config.packages),
  ...(await loadPlugins(config.plugins ?? [], { from: rootOf(config) })).plugins
]

/** What a host, a model API or a reader of schemas would have against a plugin. Empty when nothing. */
export const checkPlugin = async (name: string, from: string): Promise<ReadonlyArray<string>> => {
  try {
    const {
      plugins: [plugin]
    } = await loadPlugins([name], { from })
    return plugin === undefined ? [] : [...manifestProblems(plugin), ...plugin.tools.flatMap(toolProblems)]
  } catch (cause) {
    if (cause instanceof PluginError) return [cause.message]
    throw cause
  }
}

const manifestProblems = ({ name, version, tools }: ConfiguredPlugin<unknown>): ReadonlyArray<string> => [
  ...(name === "" ? ["it has no name"] : []),
  ...(/^\d+\.\d+\.\d+/.test(version) ? [] : [`its version '${version}' is not a semantic version`]),
  ...(tools.length === 0 ? ["it has no tools"] : [])
]

const toolProblems = (tool: Tool<unknown>): ReadonlyArray<string> => {
  const name = legalNames([tool.name]).legal(tool.name)
  const readers = schemaReaders.filter((reader) => reader !== "openai-strict")
  const found = readers.flatMap((reader) =>
    lintTool({ name, parameters: tool.inputSchema }, reader).map(
      ({ path, problem }) => `${reader} refuses ${path === "" ? "it" : path}: ${problem}`
    )
  )
  const properties = Object.entries((tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>)
  const bare = properties.filter(([, schema]) => schema["description"] === undefined).map(([key]) => key)
  return [
    ...(tool.description.trim() === "" ? ["it has no description"] : []),
    ...(tool.inputSchema["additionalProperties"] === false ? [] : ["its input takes unknown keys: use z.strictObject"]),
    ...bare.map((key) => `its parameter ${key} has no description`),
    ...found
  ].map((problem) => `${tool.name}: ${problem}`)
}

/** Writes a new plugin's package into `directory`, which must not hold one yet. Answers with the files. */
export const newPlugin = (name: string, directory: string): Promise<ReadonlyArray<string>> => {
  const files = Object.entries(pluginFiles(name))
  const write: Effect.Effect<void, ToolError, Workspace> = Workspace.use((workspace) =>
    workspace.commit(
      files.map(([path, content]) => ({
        kind: "write",
        path: `${name}/${path}`,
        content: new TextEncoder().encode(content),
        base: "absent",
        createDirectories: true
      }))
    )
  ).pipe(Effect.asVoid)
  return Effect.runPromise(
    write.pipe(Effect.as(files.map(([path]) => `${name}/${path}`)), Effect.provide(nodeWorkspace({ root: directory })))
  )
}
