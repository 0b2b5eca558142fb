import { type ConfiguredPlugin, type Plugin, type Tool, use } from "@haft/core"
import { hostProgram } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import type { StandardServices } from "../config/config.ts"

// In the order their tools are listed. Imported on demand, because loading them is most of the cost of starting a host.
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

/**
 * Which of them a host has: a list of names; or all, without those that are false, and with configurations for some.
 */
export type PackageChoice = ReadonlyArray<PackageName> | { readonly [Name in PackageName]?: false | ConfigOf<Name> }

type ConfigOf<Name extends PackageName> =
  Awaited<ReturnType<(typeof packages)[Name]>> extends Plugin<infer _R, infer Config> ? NonNullable<Config> : never

/** The types of the tools in the chosen packages. A list whose names are not known counts as all packages. */
export type TypesOfPackages<Choice> = {
  readonly [Name in ChosenIn<Choice>]: TypesOfPackage<Name>
}[ChosenIn<Choice>]

type ChosenIn<Choice> =
  Choice extends ReadonlyArray<infer Name extends PackageName>
    ? Name
    : {
        [Name in PackageName]: Name extends keyof Choice ? (Choice[Name] extends false ? never : Name) : Name
      }[PackageName]

type TypesOfPackage<Name extends PackageName> =
  Awaited<ReturnType<(typeof packages)[Name]>> extends Plugin<infer _R, infer _Config, infer Types> ? Types : never

export interface PluginsOptions {
  /** Tools of a dialect's own package, each for the package that has its operation. */
  readonly tools?: ReadonlyArray<Tool<unknown>>
  /** Only the package that has this tool, if there is one. */
  readonly only?: { readonly name: string; readonly dialect: string }
}

/** The chosen packages, bound to their configurations. */
export const standardPlugins = async (
  choice: PackageChoice = {},
  { tools = [], only }: PluginsOptions = {}
): Promise<ReadonlyArray<ConfiguredPlugin<StandardServices>>> => {
  const names = packageNames.filter((name) => (isList(choice) ? choice.includes(name) : choice[name] !== false))
  const load = async (name: PackageName) => withToolsOf(await configured(name, choice), tools)
  if (only !== undefined) {
    for (const name of names) {
      const plugin = await load(name)
      if (plugin.tools.some((one) => one.name === only.name && one.dialect === only.dialect)) return [plugin]
    }
  }
  return Promise.all(names.map(load))
}

/**
 * A package with those tools besides its own that word one of its operations. They run on its services, under its
 * configuration.
 */
export const withToolsOf = <R>(
  plugin: ConfiguredPlugin<R>,
  tools: ReadonlyArray<Tool<unknown>>
): ConfiguredPlugin<R> => {
  const operations = new Set(plugin.tools.map(({ operation }) => operation))
  return { ...plugin, tools: [...plugin.tools, ...tools.filter(({ operation }) => operations.has(operation))] }
}

const isList = (choice: PackageChoice): choice is ReadonlyArray<PackageName> => Array.isArray(choice)

// The cast is safe: `use` checks the configuration against the plugin's own schema.
const configured = async (name: PackageName, choice: PackageChoice): Promise<ConfiguredPlugin<StandardServices>> => {
  const plugin = (await packages[name]()) as Plugin<StandardServices, unknown>
  const given = isList(choice) ? undefined : choice[name]
  return use(plugin, name === "search" ? await withHostRipgrep(given) : given)
}

/** A configuration of search whose ripgrep is none that a command in the workspace can replace while the host runs. */
const withHostRipgrep = async (given: unknown): Promise<unknown> => {
  if (given !== undefined && !isSearchConfig(given)) return given
  const { installedRipgrep } = await import("@haft/search-tools")
  const program = given?.ripgrep ?? (await Effect.runPromise(Effect.orElseSucceed(installedRipgrep, () => undefined)))
  const safe = program && hostProgram(program)
  return safe === program ? given : { ...given, ripgrep: safe }
}

const isSearchConfig = (given: unknown): given is { readonly ripgrep?: string } =>
  typeof given === "object" && given !== null && (!("ripgrep" in given) || typeof given.ripgrep === "string")
