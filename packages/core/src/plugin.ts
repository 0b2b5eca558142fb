import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import type { Tool } from "./tool.ts"

/** The number of the contract between plugins and hosts. A host refuses a number it does not know. */
export const pluginContract = 1

/** A package of tools and what they need. `R` is what the host still has to lend. */
export interface Plugin<out R = never, in Config = never> {
  readonly "~haft/Plugin": number
  readonly name: string
  readonly version: string
  readonly tools: ReadonlyArray<Tool<unknown>>
  /** Checks the configuration and binds it. */
  readonly configure: (config: Config) => ConfiguredPlugin<R>
}

/** A plugin with its configuration, ready for a host. */
export interface ConfiguredPlugin<out R = never> {
  readonly "~haft/Plugin": number
  readonly name: string
  readonly version: string
  readonly tools: ReadonlyArray<Tool<unknown>>
  readonly layer: Layer.Layer<unknown, PluginError, R>
  /** Phantom: what the host still has to lend. */
  readonly "~R"?: R
}

/** Why a plugin can't be used: its name, what is wrong, and what to do. */
export class PluginError extends Error {
  override readonly name = "PluginError"
  readonly plugin: string
  constructor(plugin: string, problem: string, options?: ErrorOptions) {
    super(`plugin ${plugin}: ${problem}`, options)
    this.plugin = plugin
  }
}

/** What an author writes; the result is the package's default export. */
export interface PluginDefinition<Config extends z.ZodType, R, Provided, LayerR> {
  readonly name: string
  readonly version: string
  readonly tools: ReadonlyArray<Tool<R>>
  /** Refused by name when it does not fit. Absent: the plugin takes no configuration. */
  readonly config?: Config
  /** What the tools need and the host does not lend. */
  readonly layer?: (config: z.output<Config>) => Layer.Layer<Provided, unknown, LayerR>
}

export const definePlugin = <
  R = never,
  Config extends z.ZodType = z.ZodOptional<z.ZodUndefined>,
  Provided = never,
  LayerR = never
>(
  definition: PluginDefinition<Config, R, Provided, LayerR>
): Plugin<Exclude<R, Provided> | LayerR, z.input<Config>> => ({
  "~haft/Plugin": pluginContract,
  name: definition.name,
  version: definition.version,
  tools: definition.tools,
  configure: (config) => ({
    "~haft/Plugin": pluginContract,
    name: definition.name,
    version: definition.version,
    tools: definition.tools,
    layer: layerOf(definition, config) as Layer.Layer<unknown, PluginError, Exclude<R, Provided> | LayerR>
  })
})

const layerOf = <Config extends z.ZodType, R, Provided, LayerR>(
  definition: PluginDefinition<Config, R, Provided, LayerR>,
  config: unknown
): Layer.Layer<Provided, PluginError, LayerR> => {
  const checked = definition.config?.safeParse(config)
  if (checked?.success === false) {
    const problems = checked.error.issues.map((issue) => `${issue.path.join(".") || "configuration"}: ${issue.message}`)
    throw new PluginError(definition.name, `its configuration does not fit: ${problems.join("; ")}`)
  }
  if (definition.layer === undefined) return Layer.empty as Layer.Layer<Provided>
  const layer = definition.layer(checked?.data as z.output<Config>)
  const started = Layer.build(layer).pipe(
    Effect.catchCause((cause) =>
      Effect.fail(new PluginError(definition.name, "it could not start", { cause: Cause.squash(cause) }))
    )
  )
  return Layer.effectContext(started)
}

/** Binds a plugin to its configuration: `use(fsTools)`, `use(tickets, { baseUrl })`. */
export const use = <R, Config>(
  plugin: Plugin<R, Config>,
  ...config: undefined extends Config ? [config?: Config] : [config: Config]
): ConfiguredPlugin<R> => {
  const number = plugin["~haft/Plugin"]
  if (number !== pluginContract) {
    throw new PluginError(
      plugin.name,
      `it was made for plugin contract ${number}, this host speaks ${pluginContract}. Install a version of one that fits the other.`
    )
  }
  return plugin.configure(config[0] as Config)
}
