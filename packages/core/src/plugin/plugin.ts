import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import { plainIssues } from "../schema/describe-issues.ts"
import type { Tool, ToolTypes } from "../tool.ts"
import { checkShape, pluginContract } from "./check-shape.ts"
import { isPluginError, PluginError, reasonOf } from "./plugin-error.ts"

/** A package of tools and what they need. `R` is what the host still has to lend, `Types` the union of its tools. */
export interface Plugin<out R = never, in Config = never, out Types extends ToolTypes = ToolTypes> {
  readonly "~haft/Plugin": number
  readonly name: string
  readonly version: string
  readonly tools: ReadonlyArray<Tool<unknown>>
  /** Checks the configuration and binds it. */
  readonly configure: (config: Config) => ConfiguredPlugin<R, Types>
}

/** A plugin with its configuration, ready for a host. */
export interface ConfiguredPlugin<out R = never, out Types extends ToolTypes = ToolTypes> {
  readonly "~haft/Plugin": number
  readonly name: string
  readonly version: string
  readonly tools: ReadonlyArray<Tool<unknown>>
  /** Building it starts the plugin, closing its scope stops it. */
  readonly layer: Layer.Layer<unknown, PluginError, R>
  /** Fails with a reason while the plugin can't do its work. Absent: it is well as long as it runs. */
  readonly health?: Effect.Effect<void, unknown, unknown>
  /** Phantom: what the host still has to lend. */
  readonly "~R"?: R
  /** Phantom: the union of the tools' types. */
  readonly "~types"?: Types
}

/** Definition of a plugin; the result is the package's default export. */
export interface PluginDefinition<Config extends z.ZodType, T extends Tool<unknown>, Provided, LayerR> {
  readonly name: string
  readonly version: string
  /** Each may need something else; the plugin needs what any of them does. */
  readonly tools: ReadonlyArray<T>
  /** Refused by name when it does not fit. Absent: the plugin takes no configuration. */
  readonly config?: Config
  /**
   * Services that the tools require and the host does not lend. Building it is how a plugin starts; what it acquires is released
   * when the host closes, which is how it stops.
   */
  readonly layer?: (config: z.output<Config>) => Layer.Layer<Provided, unknown, LayerR>
  /** Looks whether the plugin can do its work, and fails with a reason when it can't. */
  readonly health?: (config: z.output<Config>) => Effect.Effect<void, unknown, Provided | LayerR>
}

type NeedsOf<T> = T extends Tool<infer R> ? R : never

/** The types of some tools, as a union. */
export type TypesIn<T> = T extends Tool<unknown, infer Types> ? Types : never

export const definePlugin = <
  T extends Tool<unknown> = Tool,
  Config extends z.ZodType = z.ZodOptional<z.ZodUndefined>,
  Provided = never,
  LayerR = never
>(
  definition: PluginDefinition<Config, T, Provided, LayerR>
): Plugin<Exclude<NeedsOf<T>, Provided> | LayerR, z.input<Config>, TypesIn<T>> => ({
  "~haft/Plugin": pluginContract,
  name: definition.name,
  version: definition.version,
  tools: definition.tools,
  configure: (config) => {
    const checked = checkConfig(definition, config)
    return {
      "~haft/Plugin": pluginContract,
      name: definition.name,
      version: definition.version,
      tools: definition.tools,
      layer: layerOf(definition, checked) as Layer.Layer<unknown, PluginError, Exclude<NeedsOf<T>, Provided> | LayerR>,
      ...(definition.health !== undefined && { health: definition.health(checked) })
    }
  }
})

const checkConfig = <Config extends z.ZodType, T extends Tool<unknown>, Provided, LayerR>(
  definition: PluginDefinition<Config, T, Provided, LayerR>,
  config: unknown
): z.output<Config> => {
  if (definition.config === undefined) {
    if (config === undefined) return undefined as z.output<Config>
    throw new PluginError(definition.name, "it takes no configuration, and was given one. Leave it out.")
  }
  const checked = definition.config.safeParse(config)
  if (checked.success) return checked.data
  // None at all is as good as an empty one, where that will do.
  const tried = config === undefined ? definition.config.safeParse({}) : checked
  if (tried.success) return tried.data
  const problems = plainIssues(tried.error).map(
    (issue) => `${issue.path.join(".") || "configuration"}: ${issue.message}`
  )
  throw new PluginError(
    definition.name,
    config === undefined
      ? `it needs a configuration: ${problems.join("; ")}. Give it one: use(plugin, { … }) in a program, { "package": …, "config": { … } } in a file.`
      : `its configuration does not fit: ${problems.join("; ")}. Correct it where the plugin is named.`
  )
}

const layerOf = <Config extends z.ZodType, T extends Tool<unknown>, Provided, LayerR>(
  { name, layer }: PluginDefinition<Config, T, Provided, LayerR>,
  config: z.output<Config>
): Layer.Layer<Provided, PluginError, LayerR> => {
  if (layer === undefined) return Layer.empty as Layer.Layer<Provided>
  const started = Effect.suspend(() => Layer.build(layer(config))).pipe(
    Effect.catchCause((cause) => {
      const reason = Cause.squash(cause)
      const problem = `it could not start: ${reasonOf(reason)}. Mend that, or start the host without it.`
      return Effect.fail(new PluginError(name, problem, { cause: reason }))
    })
  )
  return Layer.effectContext(started)
}

/** Binds a plugin to its configuration: `use(fsTools)`, `use(tickets, { baseUrl })`. */
export const use = <R, Config, Types extends ToolTypes>(
  plugin: Plugin<R, Config, Types>,
  ...config: undefined extends Config ? [config?: Config] : [config: Config]
): ConfiguredPlugin<R, Types> => {
  checkShape(plugin)
  const configured = configuredBy(plugin, config[0] as Config)
  checkShape(configured)
  return configured
}

const configuredBy = <R, Config, Types extends ToolTypes>(
  plugin: Plugin<R, Config, Types>,
  config: Config
): ConfiguredPlugin<R, Types> => {
  try {
    const configured = plugin.configure(config)
    if (Layer.isLayer(configured.layer)) return configured
  } catch (cause) {
    if (isPluginError(cause)) throw cause
    throw new PluginError(plugin.name, `it can't be configured: ${reasonOf(cause)}. Fix it, or leave it out.`, {
      cause
    })
  }
  throw new PluginError(plugin.name, "it can't be configured: it has no layer. Make it with definePlugin.")
}
