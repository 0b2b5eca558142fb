import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import {
  type CallOptions,
  callTool,
  decodeCall,
  previewCall,
  type RoadServices,
  type RoadSettings
} from "./call-tool.ts"
import type { Reply, SymlinkPolicy } from "./call.ts"
import type { Dialect } from "./dialect.ts"
import type { JsonSchema } from "./json-schema.ts"
import { type ConfiguredPlugin, PluginError } from "./plugin.ts"
import type { ToolError } from "./tool-error.ts"
import type { Tool } from "./tool.ts"
import type { Facts, Risk } from "./touches.ts"

/** A tool as a host shows it to the outside. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly plugin: string
  readonly risk: Risk
  readonly idempotent: boolean
  readonly openWorld: boolean
  /** As the dialect publishes it. */
  readonly inputSchema: JsonSchema
  /** Of the whole envelope, so that every reply fits it. */
  readonly replySchema: JsonSchema
}

/** What a call would do, without doing it. */
export interface CallPreview {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly facts: Facts
  readonly asks: boolean
  readonly diff?: string
}

export interface HostService {
  readonly dialect: Dialect
  /** In a fixed order: plugins as given, tools as the plugin lists them. */
  readonly tools: ReadonlyArray<ToolDescription>
  /** Sends one call down the road. It never fails: failures are replies. */
  readonly call: (tool: string, args: unknown, options?: CallOptions) => Effect.Effect<Reply>
  readonly preview: (tool: string, args: unknown) => Effect.Effect<CallPreview, ToolError>
  /** Arguments as the tool would get them: keys in schema order, defaults filled in. */
  readonly decode: (tool: string, args: unknown) => Effect.Effect<Readonly<Record<string, unknown>>, ToolError>
}

export interface HostOptions<R> {
  readonly dialect: Dialect
  readonly plugins: ReadonlyArray<ConfiguredPlugin<R>>
  /** The dialect's own policy when absent. */
  readonly symlinks?: SymlinkPolicy
}

/** One dialect, some plugins and the services, ready to be called. */
export class Host extends Context.Service<Host, HostService>()("@haft/core/Host") {
  static readonly layer = <R = never>(options: HostOptions<R>): Layer.Layer<Host, PluginError, R | RoadServices> =>
    Layer.effect(
      Host,
      Effect.gen(function* () {
        const services = yield* Effect.context<R | RoadServices>()
        const plugins = options.plugins.map((plugin) => plugin.layer)
        const provided = yield* Layer.build(Layer.mergeAll(Layer.empty, ...plugins))
        const context = Context.merge(services, provided)
        const { dialect } = options
        const tools = yield* collect(options)
        const settings: RoadSettings<unknown> = {
          dialect,
          symlinks: options.symlinks ?? dialect.symlinks,
          find: (name) => (tools.get(name) ?? tools.get(spelled(tools, name)))?.tool,
          names: () => [...tools.keys()]
        }
        return {
          dialect,
          tools: [...tools.values()].map(({ tool, plugin }) => describe(dialect, tool, plugin)),
          call: (name, args, callOptions) =>
            callTool(settings, name, args, callOptions).pipe(Effect.provideContext(context)),
          preview: (name, args) => previewCall(settings, name, args).pipe(Effect.provideContext(context)),
          decode: (name, args) => decodeCall(settings, name, args)
        }
      })
    )
}

interface HostedTool {
  readonly tool: Tool<unknown>
  readonly plugin: string
}

const collect = Effect.fnUntraced(function* <R>({ dialect, plugins }: HostOptions<R>) {
  const tools = new Map<string, HostedTool>()
  for (const plugin of plugins) {
    for (const tool of plugin.tools) {
      if (tool.dialect !== dialect.name && tool.dialect !== "any") continue
      const other = tools.get(tool.name)
      if (other !== undefined) {
        return yield* Effect.fail(
          new PluginError(
            plugin.name,
            `its tool '${tool.name}' is also in plugin ${other.plugin}. Use only one of the two.`
          )
        )
      }
      tools.set(tool.name, { tool, plugin: plugin.name })
    }
  }
  return tools
})

// Some model APIs forbid dots in names; a call under the legal spelling means the same tool.
const spelled = (tools: ReadonlyMap<string, HostedTool>, name: string): string =>
  [...tools.keys()].find((key) => key.replaceAll(".", "_") === name) ?? ""

const describe = (dialect: Dialect, tool: Tool<unknown>, plugin: string): ToolDescription => {
  const schemas: { input?: JsonSchema; reply?: JsonSchema } = {}
  return {
    name: tool.name,
    description: tool.description,
    plugin,
    risk: tool.risk,
    idempotent: tool.idempotent,
    openWorld: tool.openWorld,
    get inputSchema() {
      return (schemas.input ??= dialect.publishInput?.(tool.inputSchema, tool.name) ?? tool.inputSchema)
    },
    get replySchema() {
      return (schemas.reply ??= dialect.envelope(tool.outputSchema))
    }
  }
}
