import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"

import type { Dialect } from "./dialect.ts"
import { findTools } from "./find-tools.ts"
import { type HostArtifacts, hostArtifacts } from "./host-artifacts.ts"
import {
  type CallOptions,
  callTool,
  decodeCall,
  previewCall,
  type RoadServices,
  type RoadSettings
} from "./pipeline/call-tool.ts"
import type { Reply, SymlinkPolicy } from "./pipeline/call.ts"
import { standardReplyBytes } from "./pipeline/reply-budget.ts"
import { within } from "./pipeline/time-limit.ts"
import { traced } from "./pipeline/trace.ts"
import { type PluginError, reasonOf } from "./plugin/plugin-error.ts"
import type { ConfiguredPlugin } from "./plugin/plugin.ts"
import { type HostedTool, type OnPluginError, startPlugins } from "./plugin/start-plugins.ts"
import { findToolsName, isDeferredIn, type Profile } from "./profile.ts"
import type { JsonSchema } from "./schema/json-schema.ts"
import type { Verdict } from "./services/approver.ts"
import type { ToolError } from "./tool-error.ts"
import type { Tool } from "./tool.ts"
import type { Facts, Risk } from "./touches.ts"
import type { ToolsIn, TypedHostService } from "./typed-call.ts"

/** A tool as a host shows it to the outside. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly plugin: string
  readonly risk: Risk
  readonly idempotent: boolean
  readonly openWorld: boolean
  /** The smallest profile that lists the tool; every profile when absent. */
  readonly profile?: Profile
  /** Set where the host's profile leaves the tool out: it can be called, and models see it once `find_tools` found it. */
  readonly deferred?: true
  /** Arguments of typical calls. */
  readonly examples?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** As the dialect publishes it. */
  readonly inputSchema: JsonSchema
  /** Of the whole envelope, so that every reply fits it. */
  readonly replySchema: JsonSchema
  /** Set where clients get `replySchema` only on request, because it costs more context than it helps. */
  readonly hidesReplySchema?: true
}

/** Preview of a call: its touches and the policy's decision. Nothing is executed. */
export interface CallPreview {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly facts: Facts
  /** The contract's own wish. */
  readonly asks: boolean
  /** Decision that the policy would make, as things are now. */
  readonly verdict: Verdict
  readonly diff?: string
}

export interface HostService {
  readonly dialect: Dialect
  /** In a fixed order: plugins as given, tools as the plugin lists them. */
  readonly tools: ReadonlyArray<ToolDescription>
  /** Sends one call down the road. It never fails: failures are replies. */
  readonly call: (tool: string, args: unknown, options?: CallOptions) => Effect.Effect<Reply>
  /** One tool as a function. */
  readonly tool: (tool: string) => (args: unknown, options?: CallOptions) => Effect.Effect<Reply>
  readonly preview: (tool: string, args: unknown) => Effect.Effect<CallPreview, ToolError>
  /** Arguments as the tool would get them: keys in schema order, defaults filled in. */
  readonly decode: (tool: string, args: unknown) => Effect.Effect<Readonly<Record<string, unknown>>, ToolError>
  /** The values of fields that a caller of a tool may leave out; undefined for an unknown tool. */
  readonly defaults: (tool: string) => Readonly<Record<string, unknown>> | undefined
  /** Artifacts of callers, for protocols with resources. */
  readonly artifacts: HostArtifacts
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
  /** Bytes of a reply at most, 512 KiB by default; what is beyond them becomes an artifact that the reply names. */
  readonly replyBytes?: number
  /** Which tools models are shown at first; all by default. The others are deferred: `find_tools` finds them. */
  readonly profile?: Profile
  /** Replaces secrets in replies, not only in the audit log; false by default. */
  readonly redactReplies?: boolean
  /** `refuse`, the default, starts no host with a plugin that can't be used; `skip` starts it without that plugin. */
  readonly onPluginError?: OnPluginError
}

/** How a plugin is. */
export interface PluginHealth {
  readonly plugin: string
  readonly version: string
  readonly isWell: boolean
  /** Why it is not. */
  readonly problem?: string
}

/** One dialect, some plugins and the services, ready to be called. {@link makeHost} gives it with typed calls. */
export class Host extends Context.Service<Host, HostService>()("@haft/core/Host") {
  static readonly layer = <R = never>(options: HostOptions<R>): Layer.Layer<Host, PluginError, R | RoadServices> =>
    Layer.effect(Host, hostWith(options))
}

const hostWith = Effect.fnUntraced(function* <R>(options: HostOptions<R>) {
  // Spans of calls belong below the caller's span, not below the one in which the host was made.
  const services = Context.omit(Tracer.ParentSpan)(yield* Effect.context<R | RoadServices>()) as Context.Context<
    R | RoadServices
  >
  const { dialect, plugins, onPluginError = "refuse" } = options
  const { started, tools, skipped, provided } = yield* startPlugins({ dialect, plugins, onPluginError }, services)
  const { profile = "all" } = options
  const isDeferred = (tool: Tool<unknown>): boolean => isDeferredIn(profile, tool)
  const described = [...tools.values()].map(({ tool, plugin }) => describe(dialect, tool, plugin, isDeferred(tool)))
  const deferred = described.filter((tool) => tool.deferred)
  if (deferred.length > 0 && !tools.has(findToolsName)) {
    const finder = { tool: findTools(() => deferred), plugin: "host" }
    tools.set(findToolsName, finder)
    described.push(describe(dialect, finder.tool, finder.plugin, false))
  }
  const context = Context.merge(services, provided)
  const lend = lending(context)
  const settings: RoadSettings<unknown> = {
    dialect,
    symlinks: options.symlinks ?? dialect.symlinks,
    replyBytes: options.replyBytes ?? standardReplyBytes,
    redactReplies: options.redactReplies ?? false,
    find: (name) => (tools.get(name) ?? tools.get(spelled(tools, name)))?.tool,
    names: () => [...tools.keys()]
  }
  const call: HostService["call"] = (name, args, callOptions) =>
    callTool(settings, name, args, callOptions).pipe(
      traced(() => ({
        tool: settings.find(name)?.name ?? "unknown",
        dialect: dialect.name,
        ...(callOptions?.traceParent !== undefined && { traceParent: callOptions.traceParent })
      })),
      Effect.updateContext(lend)
    )
  return {
    dialect,
    tools: described,
    call,
    tool: (name) => (args, callOptions) => call(name, args, callOptions),
    preview: (name, args) => previewCall(settings, name, args).pipe(Effect.provideContext(context)),
    decode: (name, args) => decodeCall(settings, name, args),
    defaults: (name) => settings.find(name)?.defaults,
    artifacts: yield* hostArtifacts(settings),
    skipped,
    health: Effect.forEach(started, healthOf, { concurrency: "unbounded" }).pipe(Effect.provideContext(context))
  } satisfies HostService
})

/** A host as a value, with typed calls. It lives as long as its scope. */
export const makeHost = <const D extends string, P extends ConfiguredPlugin<unknown> = never>(
  options: TypedHostOptions<D, P>
): Effect.Effect<
  TypedHostService<ToolsIn<TypesOfPlugin<P>, D>>,
  PluginError,
  NeedsOfPlugin<P> | RoadServices | Scope.Scope
> =>
  // At run time any name is taken and all arguments are checked; the types only say what will be accepted.
  hostWith<NeedsOfPlugin<P>>(options as HostOptions<NeedsOfPlugin<P>>) as ReturnType<typeof makeHost<D, P>>

interface TypedHostOptions<D extends string, P extends ConfiguredPlugin<unknown>> extends Omit<
  HostOptions<unknown>,
  "dialect" | "plugins"
> {
  readonly dialect: Dialect<D>
  readonly plugins: ReadonlyArray<P>
}

type NeedsOfPlugin<P> = P extends ConfiguredPlugin<infer R> ? R : never

type TypesOfPlugin<P> = P extends ConfiguredPlugin<unknown, infer Types> ? Types : never

// Merges the caller's context with what the host lends. The last merge is kept: most callers bring the same context with
// every call.
const lending = <R>(lent: Context.Context<R>) => {
  let caller: Context.Context<never> = Context.empty()
  let both: Context.Context<R> = lent
  return (given: Context.Context<never>): Context.Context<R> => {
    if (given !== caller) [caller, both] = [given, Context.merge(given, lent)]
    return both
  }
}

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

const describe = (dialect: Dialect, tool: Tool<unknown>, plugin: string, isDeferred: boolean): ToolDescription => {
  const schemas: { input?: JsonSchema; reply?: JsonSchema } = {}
  return {
    name: tool.name,
    description: tool.description,
    plugin,
    risk: tool.risk,
    idempotent: tool.idempotent,
    openWorld: tool.openWorld,
    ...(tool.profile !== undefined && { profile: tool.profile }),
    ...(isDeferred && { deferred: true }),
    ...(tool.examples !== undefined && { examples: tool.examples }),
    ...(dialect.hidesReplySchemas === true && { hidesReplySchema: true }),
    get inputSchema() {
      return (schemas.input ??= dialect.publishInput?.(tool.inputSchema, tool) ?? tool.inputSchema)
    },
    get replySchema() {
      return (schemas.reply ??= dialect.envelope(tool.outputSchema))
    }
  }
}
