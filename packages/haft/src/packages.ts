import { type ConfiguredPlugin, type Plugin, use } from "@haft/core"

import type { StandardServices } from "./config.ts"

// In the order their tools are listed. Only those that a host has are loaded: it is most of what starting one costs.
const packages = {
  fs: async () => (await import("@haft/fs-tools")).fsTools,
  search: async () => (await import("@haft/search-tools")).searchTools,
  exec: async () => (await import("@haft/exec-tools")).execTools,
  pty: async () => (await import("@haft/pty-tools")).ptyTools,
  web: async () => (await import("@haft/web-tools")).webTools
}

/** haft's own tool packages. */
export type PackageName = keyof typeof packages
export const packageNames = Object.keys(packages) as ReadonlyArray<PackageName> as readonly [PackageName]

/** Which of them a host has: those listed, or all but those that are false, each with its configuration. */
export type PackageChoice = ReadonlyArray<PackageName> | { readonly [Name in PackageName]?: false | ConfigOf<Name> }

type ConfigOf<Name extends PackageName> =
  Awaited<ReturnType<(typeof packages)[Name]>> extends Plugin<infer _R, infer Config> ? NonNullable<Config> : never

/** The packages of a choice, bound to their configuration; of `tool` alone, if one of them has it. */
export const standardPlugins = async (
  choice: PackageChoice = {},
  tool?: { readonly name: string; readonly dialect: string }
): Promise<ReadonlyArray<ConfiguredPlugin<StandardServices>>> => {
  const names = packageNames.filter((name) => (isList(choice) ? choice.includes(name) : choice[name] !== false))
  if (tool !== undefined) {
    for (const name of names) {
      const plugin = await configured(name, choice)
      if (plugin.tools.some((one) => one.name === tool.name && one.dialect === tool.dialect)) return [plugin]
    }
  }
  return Promise.all(names.map((name) => configured(name, choice)))
}

const isList = (choice: PackageChoice): choice is ReadonlyArray<PackageName> => Array.isArray(choice)

// What does not fit is refused by the plugin itself, by name.
const configured = async (name: PackageName, choice: PackageChoice): Promise<ConfiguredPlugin<StandardServices>> =>
  use((await packages[name]()) as Plugin<StandardServices, unknown>, isList(choice) ? undefined : choice[name])
