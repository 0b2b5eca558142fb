import { createRequire } from "node:module"
import { isAbsolute, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

import { type ConfiguredPlugin, type Plugin, PluginError, use } from "@haft/core"

import type { PluginEntry, StandardServices } from "./config.ts"

/** Brings plugins in: what is named is imported, as seen from `from`, and everything is bound to its configuration. */
export const loadPlugins = (
  entries: ReadonlyArray<PluginEntry>,
  from: string
): Promise<ReadonlyArray<ConfiguredPlugin<StandardServices>>> =>
  Promise.all(
    entries.map(async (entry) => {
      if (typeof entry === "string") return use(await importPlugin(entry, from))
      if ("package" in entry) return use(await importPlugin(entry.package, from), entry.config as undefined)
      return "configure" in entry ? use(entry) : entry
    })
  )

const importPlugin = async (name: string, from: string): Promise<Plugin<StandardServices, undefined>> => {
  const module = (await import(addressOf(name, from)).catch((cause: unknown) => {
    throw new PluginError(name, `it can't be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause
    })
  })) as { readonly default?: Plugin<StandardServices, undefined> }
  if (module.default === undefined || !("~haft/Plugin" in module.default)) {
    throw new PluginError(name, "its default export is not made by definePlugin")
  }
  return module.default
}

/** Where a plugin of that name is found, as seen from `from`. */
export const addressOf = (name: string, from: string): string => {
  if (isAbsolute(name) || name.startsWith(".")) return pathToFileURL(resolve(from, name)).href
  try {
    return pathToFileURL(createRequire(join(from, "haft.config.js")).resolve(name)).href
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
