import { type ConfiguredPlugin, type Plugin, use } from "@haft/core"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { webTools } from "@haft/web-tools"

import type { StandardServices } from "./config.ts"

// In the order their tools are listed.
const packages = { fs: fsTools, search: searchTools, exec: execTools, pty: ptyTools, web: webTools }

/** haft's own tool packages. */
export type PackageName = keyof typeof packages
export const packageNames = Object.keys(packages) as ReadonlyArray<PackageName> as readonly [PackageName]

/** Which of them a host has: those listed, or all but those that are false, each with its configuration. */
export type PackageChoice = ReadonlyArray<PackageName> | { readonly [Name in PackageName]?: false | ConfigOf<Name> }

type ConfigOf<Name extends PackageName> =
  (typeof packages)[Name] extends Plugin<infer _R, infer Config> ? NonNullable<Config> : never

export const standardPlugins = (choice: PackageChoice = {}): ReadonlyArray<ConfiguredPlugin<StandardServices>> =>
  packageNames.flatMap((name) => {
    if (isList(choice)) return choice.includes(name) ? [configured(name)] : []
    return choice[name] === false ? [] : [configured(name, choice[name])]
  })

const isList = (choice: PackageChoice): choice is ReadonlyArray<PackageName> => Array.isArray(choice)

// What does not fit is refused by the plugin itself, by name.
const configured = (name: PackageName, config?: unknown): ConfiguredPlugin<StandardServices> =>
  use(packages[name] as Plugin<StandardServices, unknown>, config)
