// By namespace, because Bun has no `findPackageJSON`, and the import of a name that is missing would fail.
import * as nodeModule from "node:module"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

import { type ConfiguredPlugin, isPluginError, type Plugin, PluginError, reasonOf, use } from "@haft/core"
import { type OnPluginError } from "@haft/core/internal"

import type { PluginEntry, StandardServices } from "../config/config.ts"
import { importFailure } from "../config/import-failure.ts"

export type LoadedPlugin = ConfiguredPlugin<StandardServices>

/** The plugins of a configuration. */
export interface LoadedPlugins {
  readonly plugins: ReadonlyArray<LoadedPlugin>
  /** Why others can't be used, with `onPluginError: "skip"`. */
  readonly skipped: ReadonlyArray<PluginError>
}

export interface LoadOptions {
  /** The directory that names are looked up from. */
  readonly from: string
  readonly onPluginError?: OnPluginError
  /** Throws a PluginError for a plugin that the host can't use. */
  readonly vet?: (plugin: LoadedPlugin) => void
}

/** Imports the plugins that are given by name, and binds all of them to their configurations. */
export const loadPlugins = async (
  entries: ReadonlyArray<PluginEntry>,
  { from, onPluginError = "refuse", vet }: LoadOptions
): Promise<LoadedPlugins> => {
  const results = await Promise.all(
    entries.map(async (entry) => {
      try {
        const plugin = await loadPlugin(entry, from)
        vet?.(plugin)
        return plugin
      } catch (cause) {
        const problem = isPluginError(cause) ? cause : unusable(nameOf(entry), reasonOf(cause), cause)
        if (onPluginError === "refuse") throw problem
        return problem
      }
    })
  )
  return {
    plugins: results.filter((result): result is LoadedPlugin => !isPluginError(result)),
    skipped: results.filter(isPluginError)
  }
}

const unusable = (name: string, reason: string, cause: unknown): PluginError =>
  new PluginError(name, `it can't be loaded: ${reason}. Mend or reinstall it, or take it out of the configuration.`, {
    cause
  })

const nameOf = (entry: PluginEntry): string => {
  if (typeof entry === "string") return entry
  return "package" in entry ? entry.package : entry.name
}

const loadPlugin = async (entry: PluginEntry, from: string): Promise<LoadedPlugin> => {
  if (typeof entry === "string") return use(await importPlugin(entry, from))
  if ("package" in entry) return use(await importPlugin(entry.package, from), entry.config as undefined)
  return "configure" in entry ? use(entry) : entry
}

/** The plugin a package or a file exports. */
export const importPlugin = async (name: string, from: string): Promise<Plugin<StandardServices, undefined>> => {
  const address = addressOf(name, from)
  const module = await importWithin(address).catch((cause: unknown) => {
    throw unusable(name, importFailure(cause, address), cause)
  })
  if (!isPlugin(module.default)) {
    throw new PluginError(name, "its default export is not made by definePlugin. Is it a plugin of haft?")
  }
  const { name: own } = module.default as { readonly name: unknown }
  if (typeof own !== "string" || own === "") {
    throw new PluginError(name, "it does not say its name. Give definePlugin a `name`, that of its package.")
  }
  return module.default
}

/** A plugin whose top-level code never finishes must not keep a host from starting, or from saying why it does not. */
const loadTimeoutMs = 30_000

const importWithin = async (address: string): Promise<{ readonly default?: unknown }> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`it took longer than ${loadTimeoutMs / 1000} seconds`)),
    loadTimeoutMs
  )
  try {
    return await Promise.race([import(address), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const isPlugin = (value: unknown): value is Plugin<StandardServices, undefined> =>
  typeof value === "object" && value !== null && "~haft/Plugin" in value

/** The file URL of a plugin: a path relative to `from`, or a package that is installed there. */
export const addressOf = (name: string, from: string): string => {
  if (isAbsolute(name) || name.startsWith(".")) {
    const path = resolve(from, name)
    return pathToFileURL(entryOf(path) ?? path).href
  }
  try {
    return pathToFileURL(nodeModule.createRequire(join(from, "haft.config.js")).resolve(name)).href
  } catch (cause) {
    throw new PluginError(
      name,
      `it is not installed where ${from} could find it. Install it there, or give its path.`,
      {
        cause
      }
    )
  }
}

/** The directory of a plugin's package. */
export const packageOf = (name: string, from: string): string => {
  const address = addressOf(name, from)
  return dirname(nodeModule.findPackageJSON(address) ?? fileURLToPath(address))
}

// The main file of the package in a directory: it is resolved as an import of the package by its own name.
const entryOf = (directory: string): string | undefined => {
  const require = nodeModule.createRequire(join(directory, "package.json"))
  let name: string
  try {
    name = (require("./package.json") as { name: string }).name
  } catch {
    return undefined
  }
  try {
    return require.resolve(name)
  } catch (cause) {
    throw new PluginError(name, "its package exports nothing that is there. Build it first?", { cause })
  }
}
