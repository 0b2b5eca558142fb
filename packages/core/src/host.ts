import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

import {
  type CallOptions,
  callTool,
  decodeCall,
  previewCall,
  type RoadServices,
  type RoadSettings
} from "./call-tool.ts"
import type { Reply, SymlinkPolicy } from "./call.ts"
import { checkShape } from "./check-shape.ts"
import type { Dialect } from "./dialect.ts"
import type { JsonSchema } from "./json-schema.ts"
import { PluginError, reasonOf } from "./plugin-error.ts"
import type { ConfiguredPlugin } from "./plugin.ts"
import type { Verdict } from "./services/approver.ts"
import type { ToolError } from "./tool-error.ts"
import type { Tool } from "./tool.ts"
import type { Facts, Risk } from "./touches.ts"
import { traced } from "./trace.ts"
import { within } from "./within.ts"

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
  /** The contract's own wish. */
  readonly asks: boolean
  /** What the policy would decide, as things are now. */
  readonly verdict: Verdict
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
  /** Plugins this host was told to start without, and why. */
  readonly skipped: ReadonlyArray<PluginError>
  /** Asks every plugin how it is. One that does not answer in five seconds is not well. */
  readonly health: Effect.Effect<ReadonlyArray<PluginHealth>>
}

export interface HostOptions<R> {
  readonly dialect: Dialect
  readonly plugins: ReadonlyArray<ConfiguredPlugin<R>>
  /** The dialect's own policy when absent. */
  readonly symlinks?: SymlinkPolicy
  /** `refuse`, the default, starts no host with a plugin that can't be used; `skip` starts it without that plugin. */
  readonly onPluginError?: OnPluginError
}

export type OnPluginError = "refuse" | "skip"

/** How a plugin is. */
export interface PluginHealth {
  readonly plugin: string
  readonly version: string
  readonly isWell: boolean
  /** Why it is not. */
  readonly problem?: string
}

/** One dialect, some plugins and the services, ready to be called. */
export class Host extends Context.Service<Host, HostService>()("@haft/core/Host") {
  static readonly layer = <R = never>(options: HostOptions<R>): Layer.Layer<Host, PluginError, R | RoadServices> =>
    Layer.effect(
      Host,
      Effect.gen(function* () {
        const services = yield* Effect.context<R | RoadServices>()
        const { dialect } = options
        const { started, tools, skipped, provided } = yield* startPlugins(options, services)
        const context = Context.merge(services, provided)
        const lend = lending(context)
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
            callTool(settings, name, args, callOptions).pipe(
              traced(() => ({
                tool: settings.find(name)?.name ?? "unknown",
                dialect: dialect.name,
                ...(callOptions?.traceParent !== undefined && { traceParent: callOptions.traceParent })
              })),
              Effect.updateContext(lend)
            ),
          preview: (name, args) => previewCall(settings, name, args).pipe(Effect.provideContext(context)),
          decode: (name, args) => decodeCall(settings, name, args),
          skipped,
          health: Effect.forEach(started, healthOf, { concurrency: "unbounded" }).pipe(Effect.provideContext(context))
        }
      })
    )
}

// The caller's context and the host's make one context. It is made when the caller's changes, not for every call.
const lending = <R>(lent: Context.Context<R>) => {
  let caller: Context.Context<never> = Context.empty()
  let both: Context.Context<R> = lent
  return (given: Context.Context<never>): Context.Context<R> => {
    if (given !== caller) [caller, both] = [given, Context.merge(given, lent)]
    return both
  }
}

interface HostedTool {
  readonly tool: Tool<unknown>
  readonly plugin: string
}

// One after the other: a name belongs to whoever comes first, and only who is accepted starts.
const startPlugins = Effect.fnUntraced(function* <R>(
  { dialect, plugins, onPluginError = "refuse" }: HostOptions<R>,
  services: Context.Context<R | RoadServices>
) {
  const tools = new Map<string, HostedTool>()
  const started: Array<ConfiguredPlugin<R>> = []
  const skipped: Array<PluginError> = []
  let provided = Context.empty() as Context.Context<unknown>
  for (const plugin of plugins) {
    const lent = Context.merge(services, provided)
    const result = yield* Effect.result(startPlugin(plugin, { dialect, tools, lent }))
    if (result._tag === "Success") {
      provided = Context.merge(provided, result.success)
      started.push(plugin)
      continue
    }
    if (onPluginError === "refuse") return yield* Effect.fail(result.failure)
    skipped.push(result.failure)
    yield* Effect.logWarning(`started without ${result.failure.message}`)
  }
  return { started, tools, skipped, provided }
})

const toolsOf = <R>({ tools }: ConfiguredPlugin<R>, dialect: Dialect): ReadonlyArray<Tool<unknown>> =>
  tools.filter((tool) => tool.dialect === dialect.name || tool.dialect === "any")

/** What is there before a plugin starts. */
interface Before {
  readonly dialect: Dialect
  readonly tools: Map<string, HostedTool>
  readonly lent: Context.Context<unknown>
}

const startPlugin = Effect.fnUntraced(function* <R>(plugin: ConfiguredPlugin<R>, { dialect, tools, lent }: Before) {
  yield* Effect.try({ try: () => checkShape(plugin), catch: (cause) => cause as PluginError })
  const refused = (problem: string) => Effect.fail(new PluginError(plugin.name, problem))
  const own = toolsOf(plugin, dialect)
  for (const [at, { name }] of own.entries()) {
    const other = tools.get(name)
    if (other !== undefined) {
      return yield* refused(`its tool '${name}' is also in plugin ${other.plugin}. Use only one of the two.`)
    }
    if (own.findIndex((tool) => tool.name === name) < at) {
      return yield* refused(`it has two tools '${name}'. Rename one of them.`)
    }
  }
  // In a scope of its own, so that a plugin that fails half-way keeps nothing open.
  const scope = yield* Scope.make()
  const provided = yield* Layer.buildWithScope(plugin.layer, scope).pipe(
    within(startTimeout, () =>
      refused(`it did not start within ${startTimeout}. Mend it, or start the host without it.`)
    ),
    // Otherwise a plugin could put itself in the place of the approver, or of another plugin's client.
    Effect.tap((made) => {
      const taken = [...made.mapUnsafe.keys()].find((key) => isAnother(lent, made, key))
      return taken === undefined
        ? Effect.void
        : refused(`it provides ${taken}, which the host or another plugin lends. Give that service a name of its own.`)
    }),
    Effect.onError((cause) => stopped(plugin, scope, Exit.failCause(cause)))
  )
  yield* Effect.addFinalizer((exit) => stopped(plugin, scope, exit))
  for (const tool of own) tools.set(tool.name, { tool, plugin: plugin.name })
  return provided
})

/** A plugin that takes longer has hung. */
const startTimeout = "30 seconds"
const stopTimeout = "10 seconds"

// What Effect itself keeps in a context is nobody's service.
const isAnother = (lent: Context.Context<unknown>, made: Context.Context<unknown>, key: string): boolean =>
  !/^~?effect\//.test(key) && lent.mapUnsafe.has(key) && lent.mapUnsafe.get(key) !== made.mapUnsafe.get(key)

// A plugin that can't stop must not keep the others from it.
const stopped = <R>(
  { name }: ConfiguredPlugin<R>,
  scope: Scope.Closeable,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<void> =>
  Scope.close(scope, exit).pipe(
    Effect.catchCause((cause) => Effect.logError(`plugin ${name} did not stop cleanly`, cause)),
    within(stopTimeout, () => Effect.logError(`plugin ${name} did not stop within ${stopTimeout}`))
  )

const healthOf = <R>({ name, version, health }: ConfiguredPlugin<R>): Effect.Effect<PluginHealth, never, unknown> =>
  Effect.suspend(() => health ?? Effect.void).pipe(
    within("5 seconds", () => Effect.fail("it did not answer within 5 seconds")),
    Effect.as({ plugin: name, version, isWell: true }),
    Effect.catchCause((cause) =>
      Effect.succeed({ plugin: name, version, isWell: false, problem: reasonOf(Cause.squash(cause)) })
    )
  )

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
