import { resolve } from "node:path"

import { type Change, reasonOf, type Risk, type Tool, type ToolError, Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import { readNamedFile } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { standardPlugins } from "../host/packages.ts"
import { rootOf } from "../host/standard-host.ts"
import { importPlugin, loadPlugins } from "./load-plugins.ts"
import { type NewPlugin, pluginFiles } from "./plugin-files.ts"

/** Facts about a plugin that a person wants to know before trusting it. */
export interface PluginSummary {
  readonly name: string
  readonly version: string
  readonly contract: number
  readonly tools: ReadonlyArray<{ readonly name: string; readonly dialect: string; readonly risk: Risk }>
}

export interface PluginList {
  readonly plugins: ReadonlyArray<PluginSummary>
  /** Why others that are named can't be used. */
  readonly unusable: ReadonlyArray<string>
}

/** The plugins a configuration names, haft's own included, in the order of their tools. Nothing is started. */
export const listPlugins = async (config: HaftConfig = {}): Promise<PluginList> => {
  const loaded = await loadPlugins(config.plugins ?? [], { from: rootOf(config), onPluginError: "skip" })
  const all = [...(await standardPlugins(config.packages)), ...loaded.plugins]
  return {
    plugins: all.map((plugin) => ({
      name: plugin.name,
      version: plugin.version,
      contract: plugin["~haft/Plugin"],
      tools: plugin.tools.map(({ name, dialect, risk }) => ({ name, dialect, risk }))
    })),
    unusable: loaded.skipped.map(({ message }) => message)
  }
}

/** Writes a new plugin's package into a directory of its name in `directory`, which must not be there yet. */
export const newPlugin = async (plugin: NewPlugin, directory: string): Promise<ReadonlyArray<string>> => {
  const folder = plugin.name.split("/").at(-1) ?? plugin.name
  const files = await pluginFiles(plugin)
  const changes = files.map(([path, content]): Change => ({
    kind: "write",
    path: `${folder}/${path}`,
    content: new TextEncoder().encode(content),
    base: "absent",
    createDirectories: true
  }))
  if (await isTaken(directory, folder)) {
    throw new ConfigError(`${folder} already exists in ${resolve(directory)}. Choose another name.`)
  }
  await commitIn(directory, changes)
  return files.map(([path]) => `${folder}/${path}`)
}

/** Brings the table of tools in a plugin's README up to date. Answers whether anything changed. */
export const writePluginTable = async (directory: string): Promise<boolean> => {
  const plugin = await importPlugin(resolve(directory), ".")
  const file = resolve(directory, "README.md")
  const readme = await readNamedFile(file).catch((cause: unknown) => {
    throw new ConfigError(`${file} can't be read: ${reasonOf(cause)}`, { cause })
  })
  const place = /(?<=<!-- tools:start -->)[\s\S]*(?=<!-- tools:end -->)/
  if (!place.test(readme)) {
    throw new ConfigError(`${file} has no place for them: <!-- tools:start --> and below it <!-- tools:end -->`)
  }
  const written = readme.replace(place, () => `\n\n${pluginTable(plugin.tools)}\n\n`)
  if (written === readme) return false
  await commitIn(directory, [{ kind: "write", path: "README.md", content: new TextEncoder().encode(written) }])
  return true
}

const pluginTable = (tools: ReadonlyArray<Tool<unknown>>): string => {
  const rows = tools.map(({ name, description, risk, inputSchema }) => {
    const parameters = Object.keys(inputSchema["properties"] ?? {}).map((key) => `\`${key}\``)
    return [`\`${name}\``, description, parameters.join(" "), risk]
  })
  const lines = [["tool", "what", "parameters", "risk"], ["---", "---", "---", "---"], ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n")
}

const isTaken = (directory: string, name: string): Promise<boolean> => {
  const look = Workspace.use((workspace) => workspace.info(name, { follow: false })).pipe(
    Effect.as(true),
    Effect.catch(({ code }) => Effect.succeed(code !== "file_not_found"))
  )
  return Effect.runPromise(Effect.provide(look, nodeWorkspace({ root: resolve(directory) })))
}

const commitIn = (directory: string, changes: ReadonlyArray<Change>): Promise<unknown> => {
  const write: Effect.Effect<unknown, ToolError, Workspace> = Workspace.use((workspace) => workspace.commit(changes))
  return Effect.runPromise(Effect.provide(write, nodeWorkspace({ root: resolve(directory) })))
}
