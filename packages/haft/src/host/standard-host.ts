import { resolve } from "node:path"

import {
  CallLedger,
  type CallLedgerService,
  type ConfiguredPlugin,
  type Dialect,
  Host,
  networkPolicy,
  type PluginError,
  type Profile,
  StateFiles,
  type StateFilesService,
  type ToolError
} from "@haft/core"
import {
  fileArtifacts,
  fileJournal,
  fileState,
  nodeProcesses,
  nodeWorkspace,
  type NodeWorkspaceOptions,
  sqliteCodeIndex
} from "@haft/node"
import { stateDirectory } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { checkConfig, type ConfigError, type HaftConfig, type StandardServices } from "../config/config.ts"
import { loadPlugins } from "../plugins/load-plugins.ts"
import { vetPlugin } from "../plugins/vet-plugin.ts"
import { type ApproverOptions, standardApprover } from "./approver.ts"
import { type DialectName, loadDialect } from "./dialects.ts"
import { standardPlugins, withToolsOf } from "./packages.ts"
import { sandboxNamed } from "./sandbox.ts"

export interface StandardHostOptions extends ApproverOptions {
  /** The only tool that will be called, if that is known: other packages are then not loaded. */
  readonly onlyTool?: string
  /** The configuration comes from {@link findConfig}, which has checked it. */
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
        return hostOn(config, config.dialect, options).pipe(Layer.provide(services))
      },
      catch: (cause) => cause as ConfigError
    })
  )

const limitsOf = ({ artifacts: { keepDays, maxBytes, runBytes } = {} }: HaftConfig) => ({
  ...(keepDays !== undefined && { keepDays }),
  ...(maxBytes !== undefined && { capBytes: maxBytes }),
  ...(runBytes !== undefined && { runBytes })
})

/** Parts of a host's services that a cluster provides instead of this machine. */
export interface SharedParts {
  /** Decides commits in place of the write-ahead log. */
  readonly decide: NonNullable<NodeWorkspaceOptions["decide"]>
  /** Rules and other documents of the workspace. */
  readonly documents: StateFilesService
  /** Claims calls before they have effects. */
  readonly ledger: CallLedgerService
}

/** The services of a standard host. Several hosts can share them. */
export const standardServices = (
  config: HaftConfig = {},
  approving: ApproverOptions = {},
  shared?: SharedParts
): Layer.Layer<StandardServices, ToolError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const root = rootOf(config)
      const directory = yield* stateOf(config)
      const files = Layer.mergeAll(
        sqliteCodeIndex({ directory }).pipe(
          Layer.provideMerge(nodeWorkspace({ root, ...filesOf(config), state: directory, ...decidedBy(shared) }))
        ),
        fileArtifacts({ directory, ...limitsOf(config) }).pipe(Layer.provideMerge(fileJournal({ directory }))),
        stateFilesOf(directory, shared),
        shared === undefined ? Layer.empty : Layer.succeed(CallLedger, shared.ledger)
      )
      const approver = standardApprover(config, approving)
      const network = config.network === undefined ? Layer.empty : networkPolicy(config.network)
      return sandboxNamed(config.sandbox ?? "auto", { ...config.sandboxOptions, state: directory }).pipe(
        Layer.provideMerge(network),
        Layer.provideMerge(Layer.merge(approver, nodeProcesses)),
        Layer.provideMerge(files)
      )
    })
  )

// Where the commit log decides, the files here are a copy of it: nothing is lost with them.
const decidedBy = (shared: SharedParts | undefined): Pick<NodeWorkspaceOptions, "decide" | "durable"> =>
  shared === undefined ? {} : { decide: shared.decide, durable: false }

/** The documents of a host: in the state directory, or where a cluster has them. */
export const stateFilesOf = (directory: string, shared: SharedParts | undefined): Layer.Layer<StateFiles> =>
  shared === undefined ? fileState({ directory }) : Layer.succeed(StateFiles, shared.documents)

/** The profile of a host whose configuration names none. */
export const standardProfile: Profile = "coding"

type OwnPlugins = ReadonlyArray<ConfiguredPlugin<StandardServices>>

/** A host for one dialect on existing services. `own` are haft's packages, if they are started already. */
export const hostOn = (
  config: HaftConfig,
  spoken: DialectName | Dialect | undefined,
  { onlyTool, own: given }: Pick<StandardHostOptions, "onlyTool"> & { readonly own?: OwnPlugins } = {}
): Layer.Layer<Host, PluginError | ToolError, StandardServices> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { onPluginError = "refuse", profile = standardProfile, symlinks, replyBytes, redactReplies } = config
      const { dialect, tools } = yield* loaded(() => loadDialect(spoken))
      const { plugins, skipped } = yield* loaded(() =>
        loadPlugins(config.plugins ?? [], {
          from: rootOf(config),
          onPluginError,
          vet: (plugin) => vetPlugin(plugin, dialect)
        })
      )
      // With plugins all packages are loaded, to notice a plugin's tool that has the name of one of haft's own.
      const only = onlyTool === undefined || plugins.length > 0 ? undefined : { name: onlyTool, dialect: dialect.name }
      const own =
        given === undefined
          ? yield* loaded(() => standardPlugins(config.packages, { tools, ...(only !== undefined && { only }) }))
          : given.map((plugin) => withToolsOf(plugin, tools))
      for (const { message } of skipped) yield* Effect.logWarning(`started without ${message}`)
      const host = Host.layer({
        dialect,
        plugins: [...own, ...plugins],
        onPluginError,
        profile,
        ...(symlinks !== undefined && { symlinks }),
        ...(replyBytes !== undefined && { replyBytes }),
        ...(redactReplies !== undefined && { redactReplies })
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
export const rootOf = ({ root = ".", roots }: HaftConfig): string => resolve(roots?.[0]?.path ?? root)

/** Options of a configuration's workspace: its named roots and secret paths, where it has some. */
export const filesOf = ({ roots, secretPaths }: HaftConfig): Pick<NodeWorkspaceOptions, "roots" | "secretPaths"> => ({
  ...(roots !== undefined && {
    roots: roots.map(({ name, path, access = "write" }) => ({ name, path: resolve(path), access }))
  }),
  ...(secretPaths !== undefined && { secretPaths })
})

/** The directory of a host's state. Fails when that is inside the workspace. */
export const stateOf = (config: HaftConfig): Effect.Effect<string, ToolError> =>
  Effect.try({
    try: () => stateDirectory({ root: rootOf(config), ...(config.state !== undefined && { state: config.state }) }),
    catch: (cause) => cause as ToolError
  })
