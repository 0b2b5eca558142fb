import { type Risk, Workspace, type ToolError } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import * as Effect from "effect/Effect"

import type { HaftConfig } from "./config.ts"
import { loadPlugins } from "./load-plugins.ts"
import { standardPlugins } from "./packages.ts"
import { pluginFiles } from "./plugin-files.ts"
import { rootOf } from "./standard-host.ts"

/** A plugin as people want to see it before they trust it. */
export interface PluginSummary {
  readonly name: string
  readonly version: string
  readonly contract: number
  readonly tools: ReadonlyArray<{ readonly name: string; readonly dialect: string; readonly risk: Risk }>
}

export interface PluginList {
  readonly plugins: ReadonlyArray<PluginSummary>
  /** Those that are named and can't be used, and why. */
  readonly unusable: ReadonlyArray<string>
}

/** The plugins a configuration names, haft's own included, in the order of their tools. Nothing is started. */
export const listPlugins = async (config: HaftConfig = {}): Promise<PluginList> => {
  const loaded = await loadPlugins(config.plugins ?? [], { from: rootOf(config), onPluginError: "skip" })
  const all = [...standardPlugins(config.packages), ...loaded.plugins]
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
