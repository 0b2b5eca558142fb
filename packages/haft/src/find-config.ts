import { createHash } from "node:crypto"
import { registerHooks } from "node:module"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

import { type StateError, StateFiles, type StateFilesService } from "@haft/core"
import { fileState } from "@haft/node"
import * as Effect from "effect/Effect"

import { checkConfig, ConfigError, type HaftConfig, type PluginEntry, type WorkspaceConfig } from "./config.ts"
import { addressOf } from "./load-plugins.ts"
import { stateOf } from "./standard-host.ts"

export interface FoundConfig {
  readonly config: HaftConfig
  /** Absolute; absent when there is no file. */
  readonly file?: string
  /** A file that was passed over because nobody has trusted it. */
  readonly untrusted?: string
}

export interface FindConfigOptions {
  /** A file the person names: it is used wherever it lies. */
  readonly file?: string
  /** What the person chose besides; it wins over what a file says. */
  readonly overrides?: HaftConfig
}

const fileNames = ["haft.config.ts", "haft.config.js", "haft.config.json"]
const trustDocument = "trusted-config.json"

/**
 * Finds the configuration: the file the person names, else the workspace's, else the user's. One that lies inside the
 * workspace could have been written by the agent it is meant to hold, so it counts only if its content was trusted.
 */
export const findConfig = async ({ file, overrides = {} }: FindConfigOptions = {}): Promise<FoundConfig> => {
  const root = resolve(overrides.root ?? ".")
  if (file !== undefined) return loaded(resolve(file), overrides)
  let untrusted: string | undefined
  for (const directory of [root, userDirectory()]) {
    const candidate = await firstIn(directory)
    if (candidate === undefined) continue
    const mayBeTheAgents = isWithin(root, candidate.path)
    if (mayBeTheAgents && !(await isTrusted(candidate, { ...overrides, root }))) {
      untrusted ??= candidate.path
      continue
    }
    const found = mayBeTheAgents
      ? await alone(root, candidate.path, () => loaded(candidate.path, overrides))
      : await loaded(candidate.path, overrides)
    return { ...found, ...(untrusted !== undefined && { untrusted }) }
  }
  return { config: overrides, ...(untrusted !== undefined && { untrusted }) }
}

/** Remembers that this content of the workspace's configuration may be used. */
export const trustConfig = async (overrides: HaftConfig = {}): Promise<string> => {
  const candidate = await firstIn(resolve(overrides.root ?? "."))
  if (candidate === undefined) throw new ConfigError(`there is no ${fileNames.join(", ")} to trust in the workspace`)
  const trusted = JSON.stringify({ [candidate.path]: hashOf(candidate.content) })
  await inState(overrides, (state) => state.write(trustDocument, new TextEncoder().encode(trusted)))
  return candidate.path
}

interface Candidate {
  readonly path: string
  readonly content: Uint8Array
}

const userDirectory = (): string => {
  const { XDG_CONFIG_HOME: home = "" } = process.env
  return join(isAbsolute(home) ? home : join(homedir(), ".config"), "haft")
}

const firstIn = (directory: string): Promise<Candidate | undefined> =>
  documents(
    directory,
    Effect.fnUntraced(function* (files) {
      for (const name of fileNames) {
        const content = yield* files.read(name)
        if (content !== undefined) return { path: join(directory, name), content }
      }
      return undefined
    })
  )

const isTrusted = async ({ path, content }: Candidate, config: HaftConfig): Promise<boolean> => {
  const stored = await inState(config, (state) => state.read(trustDocument))
  if (stored === undefined) return false
  const trusted = JSON.parse(new TextDecoder().decode(stored)) as Record<string, unknown>
  return trusted[path] === hashOf(content)
}

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

const loaded = async (file: string, overrides: HaftConfig): Promise<FoundConfig> => {
  const { workspaces, ...written } = checkConfig(await contentOf(file), file)
  const directory = dirname(file)
  const others = Object.entries(workspaces ?? {}).map(([name, other]) => [name, seenFrom(directory, other)] as const)
  const config: HaftConfig = {
    ...seenFrom(directory, written),
    ...(workspaces !== undefined && { workspaces: Object.fromEntries(others) }),
    ...overrides
  }
  return { config, file }
}

// A path in a file is relative to the file, not to whoever reads it.
const seenFrom = (directory: string, written: WorkspaceConfig): WorkspaceConfig => ({
  ...written,
  ...(written.root !== undefined && { root: resolve(directory, written.root) }),
  ...(written.state !== undefined && { state: resolve(directory, written.state) }),
  ...(written.plugins !== undefined && { plugins: written.plugins.map((entry) => from(directory, entry)) })
})

const from = (directory: string, entry: PluginEntry): PluginEntry => {
  if (typeof entry === "string") return entry.startsWith(".") ? resolve(directory, entry) : entry
  if (!("package" in entry) || !entry.package.startsWith(".")) return entry
  return { ...entry, package: resolve(directory, entry.package) }
}

const contentOf = async (file: string): Promise<unknown> => {
  const attributes = file.endsWith(".json") ? { with: { type: "json" } } : {}
  const module = (await import(pathToFileURL(file).href, attributes).catch((cause: unknown) => {
    throw new ConfigError(`${file} can't be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause
    })
  })) as { readonly default?: unknown }
  return module.default
}

/**
 * Loads a configuration that is trusted by its content. What it would bring in from the workspace is covered by
 * nobody's trust, so that is refused; haft itself is this copy of it.
 */
const alone = async (root: string, file: string, load: () => Promise<FoundConfig>): Promise<FoundConfig> => {
  const refuse = (target: string): void => {
    if (!isWithin(root, target)) return
    throw new ConfigError(
      `${file} is trusted by its content, and brings in ${target}, which the agent could change. ` +
        `Name the configuration with --config, or keep what it needs outside the workspace.`
    )
  }
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (context.parentURL !== pathToFileURL(file).href) return next(specifier, context)
      const isOurs = /^(?:haft|@haft\/[\w-]+)(?:\/|$)/.test(specifier)
      const resolved = next(specifier, isOurs ? { ...context, parentURL: import.meta.url } : context)
      if (!isOurs && resolved.url.startsWith("file:")) refuse(fileURLToPath(resolved.url))
      return resolved
    }
  })
  try {
    const found = await load()
    const { plugins = [], workspaces = {} } = found.config
    for (const entry of [...plugins, ...Object.values(workspaces).flatMap((other) => other.plugins ?? [])]) {
      const name = typeof entry === "string" ? entry : "package" in entry ? entry.package : undefined
      if (name !== undefined) refuse(fileURLToPath(addressOf(name, dirname(file))))
    }
    return found
  } finally {
    hooks.deregister()
  }
}

const isWithin = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const inState = <A>(config: HaftConfig, use: (state: StateFilesService) => Effect.Effect<A, StateError>): Promise<A> =>
  Effect.runPromise(stateOf(config)).then((directory) => documents(directory, use))

const documents = <A>(directory: string, use: (files: StateFilesService) => Effect.Effect<A, StateError>): Promise<A> =>
  Effect.runPromise(StateFiles.use(use).pipe(Effect.provide(fileState({ directory }))))
