import {
  type ConfiguredPlugin,
  type Dialect,
  Host,
  type Plugin,
  type PluginError,
  type ToolError,
  type ToolsIn,
  type TypedHostService
} from "@haft/core"
import { openHost as openLayer, type TypedHost } from "@haft/core/promise"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import type { ConfigError, HaftConfig, PluginEntry } from "../config/config.ts"
import type { DialectName, TypesOfDialect } from "./dialects.ts"
import type { PackageChoice, TypesOfPackages } from "./packages.ts"
import { standardHost, type StandardHostOptions } from "./standard-host.ts"

/** A configuration whose dialect, packages and plugins the compiler knows, for typed calls. */
export interface TypedConfig<
  D extends DialectName | Dialect,
  P extends PackageChoice,
  L extends ReadonlyArray<PluginEntry>
> extends Omit<HaftConfig, "dialect" | "packages" | "plugins"> {
  readonly dialect?: D
  readonly packages?: P
  readonly plugins?: L
}

/** A standard host without Effect. Its calls are typed by what it was configured with. */
export interface StandardHost<D, P, L extends ReadonlyArray<unknown>> extends TypedHost<
  ToolsOf<D, P, L>,
  OthersOf<D, L>
> {}

/** A standard host. Its calls are typed by what it was configured with. */
export interface StandardHostService<D, P, L extends ReadonlyArray<unknown>> extends TypedHostService<
  ToolsOf<D, P, L>,
  OthersOf<D, L>
> {}

/** Opens a standard host. Call `dispose` when done, or write `await using host = await openHost(…)`. */
export const openHost = <
  const D extends DialectName | Dialect = "haft",
  const P extends PackageChoice = {},
  const L extends ReadonlyArray<PluginEntry> = []
>(
  config: TypedConfig<D, P, L> = {},
  options: StandardHostOptions = {}
): Promise<StandardHost<D, P, L>> => openLayer(makeHost(config, options))

/** A standard host as a value. It lives as long as its scope. */
export const makeHost = <
  const D extends DialectName | Dialect = "haft",
  const P extends PackageChoice = {},
  const L extends ReadonlyArray<PluginEntry> = []
>(
  config: TypedConfig<D, P, L> = {},
  options: StandardHostOptions = {}
): Effect.Effect<StandardHostService<D, P, L>, ConfigError | PluginError | ToolError, Scope.Scope> =>
  // At run time any name is taken and all arguments are checked; the types only say what will be accepted.
  Effect.map(
    Layer.build(standardHost(config, options)),
    (built) => Context.get(built, Host) as StandardHostService<D, P, L>
  )

/** The tools that the compiler knows, by name: none, where it does not know which dialect is spoken. */
type ToolsOf<D, P, L extends ReadonlyArray<unknown>> =
  IsOneName<NameOf<D>> extends true
    ? ToolsIn<TypesOfPackages<P> | TypesOfDialect<D> | TypesOfPlugin<L[number]>, NameOf<D>>
    : {}

/** Names of tools that only the run knows: any, where the dialect, or a plugin that is loaded by name, may have them. */
type OthersOf<D, L extends ReadonlyArray<unknown>> =
  IsOneName<NameOf<D>> extends true ? (IsOpen<L[number]> extends false ? never : string) : string

type NameOf<D> = D extends string ? D : D extends Dialect<infer Name> ? Name : never

type IsOneName<Name, All = Name> = Name extends string
  ? string extends Name
    ? false
    : [All] extends [Name]
      ? true
      : false
  : never

type TypesOfPlugin<Entry> =
  Entry extends ConfiguredPlugin<unknown, infer Types>
    ? Types
    : Entry extends Plugin<unknown, undefined, infer Types>
      ? Types
      : never

/** True for a plugin by name, and for one whose tools have names that are only known at run time. */
type IsOpen<Entry> = Entry extends { readonly "~haft/Plugin": number }
  ? string extends TypesOfPlugin<Entry>["name"]
    ? true
    : false
  : [Entry] extends [never]
    ? false
    : true
