import { resolve } from "node:path"

import type { Asker } from "@haft/approval"
import { type ConfiguredPlugin, type Dialect, Host, type PluginError, type ToolError } from "@haft/core"
import { fileArtifacts, fileJournal, fileState, nodeProcesses, nodeWorkspace, stateDirectory } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { standardApprover } from "./approver.ts"
import { checkConfig, type ConfigError, type HaftConfig, type StandardServices } from "./config.ts"
import { dialectOf } from "./dialects.ts"
import { loadPlugins } from "./load-plugins.ts"
import { standardPlugins } from "./packages.ts"
import { sandboxNamed } from "./sandbox.ts"
import { vetPlugin } from "./vet-plugin.ts"

export interface StandardHostOptions {
  /** Whom to ask where the caller can't be: nobody, which is a no, by default. */
  readonly asker?: Layer.Layer<Asker>
  /** The only tool that will be called, if that is known: what it does not need is not loaded. */
  readonly onlyTool?: string
  /** The configuration is as {@link findConfig} gave it, and not looked at again. */
  readonly isChecked?: true
}

/** A host on this machine, as a configuration describes it. */
export const standardHost = (
  config: HaftConfig = {},
  options: StandardHostOptions = {}
): Layer.Layer<Host, ConfigError | PluginError | ToolError> =>
  Layer.unwrap(
    Effect.try({
      try: () => {
        if (options.isChecked !== true) checkConfig(config)
        const services = standardServices(config, options)
        return hostOn(config, dialectOf(config.dialect), options).pipe(Layer.provide(services))
      },
      catch: (cause) => cause as ConfigError
    })
  )

/** What a standard host lends to its tools; several hosts can share it. */
export const standardServices = (
  config: HaftConfig = {},
  { asker }: StandardHostOptions = {}
): Layer.Layer<StandardServices, ToolError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const root = rootOf(config)
      const directory = yield* stateOf(config)
      const files = Layer.mergeAll(
        nodeWorkspace({ root, state: directory }),
        fileArtifacts({ directory }).pipe(Layer.provideMerge(fileJournal({ directory }))),
        fileState({ directory })
      )
      const approver = standardApprover(config, asker)
      return sandboxNamed(config.sandbox ?? "auto", config.sandboxOptions).pipe(
        Layer.provideMerge(Layer.merge(approver, nodeProcesses)),
        Layer.provideMerge(files)
      )
    })
  )

type OwnPlugins = ReadonlyArray<ConfiguredPlugin<StandardServices>>

/**
 * The tools of a configuration in one dialect, on services that are lent to them. haft's own packages may have been
 * started before, for several hosts.
 */
export const hostOn = (
  config: HaftConfig,
  dialect: Dialect,
  { onlyTool, own: given }: Pick<StandardHostOptions, "onlyTool"> & { readonly own?: OwnPlugins } = {}
): Layer.Layer<Host, PluginError | ToolError, StandardServices> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { onPluginError = "refuse", symlinks } = config
      const { plugins, skipped } = yield* loaded(() =>
        loadPlugins(config.plugins ?? [], {
          from: rootOf(config),
          onPluginError,
          vet: (plugin) => vetPlugin(plugin, dialect)
        })
      )
      // Beside a plugin nothing is left out: two tools of one name have to be noticed.
      const only = onlyTool === undefined || plugins.length > 0 ? undefined : { name: onlyTool, dialect: dialect.name }
      const own = given ?? (yield* loaded(() => standardPlugins(config.packages, only)))
      for (const { message } of skipped) yield* Effect.logWarning(`started without ${message}`)
      const host = Host.layer({
        dialect,
        plugins: [...own, ...plugins],
        onPluginError,
        ...(symlinks !== undefined && { symlinks })
      })
      return Layer.effect(
        Host,
        Host.useSync((service) => ({ ...service, skipped: [...skipped, ...service.skipped] }))
      ).pipe(Layer.provide(host))
    })
  )

const loaded = <A>(load: () => Promise<A>): Effect.Effect<A, PluginError> =>
  Effect.tryPromise({ try: load, catch: (cause) => cause as PluginError })

/** The workspace's directory, absolute. */
export const rootOf = ({ root = "." }: HaftConfig): string => resolve(root)

/** The directory of a host's state; it fails where that would lie inside the workspace. */
export const stateOf = (config: HaftConfig): Effect.Effect<string, ToolError> =>
  Effect.try({
    try: () => stateDirectory({ root: rootOf(config), ...(config.state !== undefined && { state: config.state }) }),
    catch: (cause) => cause as ToolError
  })
