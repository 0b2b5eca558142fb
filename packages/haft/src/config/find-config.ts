import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

import {
  isPluginError,
  type PluginError,
  reasonOf,
  type StateError,
  StateFiles,
  type StateFilesService,
  type ToolError
} from "@haft/core"
import { fileState } from "@haft/node"
import { liesWithin, nearestRoot } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import { stateOf } from "../host/standard-host.ts"
import { addressOf } from "../plugins/load-plugins.ts"
import { checkConfig, ConfigError, type HaftConfig, type PluginEntry, type WorkspaceConfig } from "./config.ts"
import { doorTo, hashOf, importConfig } from "./import-config.ts"

export interface FoundConfig {
  readonly config: HaftConfig
  /** Absolute; absent when there is no file. */
  readonly file?: string
  /** A file in the workspace that was ignored, because nobody has trusted its content. */
  readonly untrusted?: string
}

export interface FindConfigOptions {
  /** A file that the person named: it is used wherever it lies. */
  readonly file?: string
  /** Settings from the command line; they win over the file's. */
  readonly overrides?: HaftConfig
  /** The directory that is the workspace unless a file or `overrides` names another; the current one by default. */
  readonly from?: string
}

const fileNames = ["haft.config.ts", "haft.config.js", "haft.config.json"]
const trustDocument = "trusted-config.json"

/**
 * Finds the configuration: the file the person names, else the workspace's, else the user's. One that lies inside the
 * workspace could have been written by the agent it is meant to hold, so it counts only if its content was trusted.
 */
export const findConfig = ({ file, overrides = {}, from }: FindConfigOptions = {}): Effect.Effect<
  FoundConfig,
  FindConfigError
> =>
  Effect.map(findIn(resolve(overrides.root ?? from ?? "."), overrides, file), (found) =>
    from === undefined || found.config.root !== undefined
      ? found
      : { ...found, config: { ...found.config, root: resolve(from) } }
  )

/** A configuration that is wrong, a plugin of it that is missing, or a state directory that can't be used. */
export type FindConfigError = ConfigError | PluginError | ToolError

/**
 * The workspace that a directory belongs to: the nearest one upwards with a configuration, or that haft keeps state
 * for; the directory itself where there is none.
 */
export const findRoot = (from = "."): string => nearestRoot(from, fileNames)

const findIn = Effect.fnUntraced(function* (
  root: string,
  overrides: HaftConfig,
  file: string | undefined
): Effect.fn.Return<FoundConfig, FindConfigError> {
  if (file !== undefined) return yield* loaded({ path: resolve(file) }, overrides)
  let untrusted: string | undefined
  for (const directory of [root, userDirectory()]) {
    const candidate = yield* firstIn(directory)
    if (candidate === undefined) continue
    const mayBeTheAgents = liesWithin(root, candidate.path)
    if (mayBeTheAgents && !(yield* isTrusted(candidate, { ...overrides, root }))) {
      untrusted ??= candidate.path
      continue
    }
    const found = yield* loaded(mayBeTheAgents ? { ...candidate, root } : candidate, overrides)
    return { ...found, ...(untrusted !== undefined && { untrusted }) }
  }
  return { config: overrides, ...(untrusted !== undefined && { untrusted }) }
})

/** Remembers that this content of the configuration in the workspace may be used. */
export const trustConfig = Effect.fnUntraced(function* (
  overrides: HaftConfig = {}
): Effect.fn.Return<string, ConfigError | ToolError> {
  const root = resolve(overrides.root ?? ".")
  for (const directory of [root, userDirectory()]) {
    const candidate = yield* firstIn(directory)
    if (candidate === undefined || !liesWithin(root, candidate.path)) continue
    const trusted = JSON.stringify({ [candidate.path]: hashOf(candidate.content) })
    yield* inState(overrides, (state) => state.write(trustDocument, new TextEncoder().encode(trusted)))
    return candidate.path
  }
  return yield* Effect.fail(new ConfigError(`there is no ${fileNames.join(", ")} to trust in the workspace`))
})

interface Candidate {
  readonly path: string
  readonly content: Uint8Array
}

const userDirectory = (): string => {
  const { XDG_CONFIG_HOME: home = "" } = process.env
  return join(isAbsolute(home) ? home : join(homedir(), ".config"), "haft")
}

const firstIn = (directory: string): Effect.Effect<Candidate | undefined, ConfigError> =>
  documents(
    directory,
    Effect.fnUntraced(function* (files) {
      for (const name of fileNames) {
        const unusable = ({ problem }: StateError) => new ConfigError(`${join(directory, name)} ${problem}`)
        const content = yield* files.read(name).pipe(Effect.mapError(unusable))
        if (content !== undefined) return { path: join(directory, name), content }
      }
      return undefined
    })
  )

const isTrusted = ({ path, content }: Candidate, config: HaftConfig): Effect.Effect<boolean, ConfigError | ToolError> =>
  Effect.map(
    inState(config, (state) => state.read(trustDocument)),
    (stored) => stored !== undefined && new TextDecoder().decode(stored) === JSON.stringify({ [path]: hashOf(content) })
  )

interface ToLoad {
  readonly path: string
  readonly content?: Uint8Array
  /**
   * The workspace, for a file inside of it: then only its trusted content counts, and it may import nothing from there.
   */
  readonly root?: string
}

const loaded = (toLoad: ToLoad, overrides: HaftConfig): Effect.Effect<FoundConfig, ConfigError | PluginError> =>
  Effect.tryPromise({
    try: () => load(toLoad, overrides),
    catch: (cause) =>
      cause instanceof ConfigError || isPluginError(cause) ? cause : new ConfigError(reasonOf(cause), { cause })
  })

const load = async ({ path: file, content, root }: ToLoad, overrides: HaftConfig): Promise<FoundConfig> => {
  const reachable = root === undefined ? [] : [root]
  const refuse = (target: string): void => {
    if (!reachable.some((directory) => liesWithin(directory, target))) return
    throw new ConfigError(
      `${file} is trusted by its content, and brings in ${target}, which the agent could change. ` +
        `Name the configuration as the \`file\` to use, or keep what it needs outside the workspace.`,
      { settings: ["file"] }
    )
  }
  const trusted = root === undefined || content === undefined ? undefined : { content, refuse }
  const address = pathToFileURL(file).href
  const { workspaces, ...written } = checkConfig(await importConfig(file, trusted), file)
  const directory = dirname(file)
  const others = Object.entries(workspaces ?? {}).map(([name, other]) => [name, seenFrom(directory, other)] as const)
  const config: HaftConfig = {
    ...seenFrom(directory, written),
    ...(workspaces !== undefined && { workspaces: Object.fromEntries(others) }),
    ...overrides
  }
  for (const { plugins = [], roots = [] } of [config, ...Object.values(config.workspaces ?? {})]) {
    if (root !== undefined) reachable.push(...roots.map(({ path }) => path))
    for (const entry of plugins) {
      const name = typeof entry === "string" ? entry : "package" in entry ? entry.package : undefined
      if (name === undefined || root === undefined) continue
      refuse(fileURLToPath(addressOf(name, directory)))
      refuse(doorTo(name, address))
    }
  }
  return { config, file }
}

// Paths in a configuration are relative to its file, not to the current directory.
const seenFrom = (directory: string, written: WorkspaceConfig): WorkspaceConfig => ({
  ...written,
  ...(written.root !== undefined && { root: resolve(directory, written.root) }),
  ...(written.roots !== undefined && {
    roots: written.roots.map((one) => Object.assign({}, one, { path: resolve(directory, one.path) }))
  }),
  ...(written.state !== undefined && { state: resolve(directory, written.state) }),
  ...(written.plugins !== undefined && { plugins: written.plugins.map((entry) => entryFrom(directory, entry)) })
})

const entryFrom = (directory: string, entry: PluginEntry): PluginEntry => {
  if (typeof entry === "string") return entry.startsWith(".") ? resolve(directory, entry) : entry
  if (!("package" in entry) || !entry.package.startsWith(".")) return entry
  return { ...entry, package: resolve(directory, entry.package) }
}

const inState = <A>(
  config: HaftConfig,
  use: (state: StateFilesService) => Effect.Effect<A, StateError>
): Effect.Effect<A, ConfigError | ToolError> =>
  Effect.flatMap(stateOf(config), (directory) =>
    documents(directory, use).pipe(
      Effect.mapError(({ problem }) => new ConfigError(`${join(directory, trustDocument)} ${problem}`))
    )
  )

const documents = <A, E>(
  directory: string,
  use: (files: StateFilesService) => Effect.Effect<A, E>
): Effect.Effect<A, E> => StateFiles.use(use).pipe(Effect.provide(fileState({ directory })))
