import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Scope from "effect/Scope"

import type { Dialect } from "./dialect.ts"
import type { ArtifactContent, ArtifactRange, ArtifactReader } from "./host-artifacts.ts"
import { type CallPreview, Host, type HostService, type PluginHealth, type ToolDescription } from "./host.ts"
import type { CallOptions } from "./pipeline/call-tool.ts"
import type { Reply } from "./pipeline/call.ts"
import type { PluginError } from "./plugin/plugin-error.ts"
import type { Answer, ApprovalQuestion } from "./services/approver.ts"
import type { ArtifactInfo } from "./services/artifacts.ts"
import { makeToolError } from "./tool-error.ts"
import type { TypedHost, TypedHostService } from "./typed-call.ts"

/** A host without Effect. */
export interface OpenHost {
  readonly dialect: Dialect
  readonly tools: ReadonlyArray<ToolDescription>
  readonly call: (tool: string, args: unknown, options?: PromiseCallOptions) => Promise<Reply>
  /** One tool as a function. */
  readonly tool: (tool: string) => (args: unknown, options?: PromiseCallOptions) => Promise<Reply>
  readonly preview: (tool: string, args: unknown) => Promise<CallPreview>
  /** Arguments as the road decodes them: keys in schema order, defaults filled in. */
  readonly decode: (tool: string, args: unknown) => Promise<Readonly<Record<string, unknown>>>
  /** The values of fields that a caller of a tool may leave out; undefined for an unknown tool. */
  readonly defaults: (tool: string) => Readonly<Record<string, unknown>> | undefined
  /** Artifacts of callers, for protocols with resources. */
  readonly artifacts: {
    readonly list: (reader?: ArtifactReader) => Promise<ReadonlyArray<ArtifactInfo>>
    readonly read: (address: string, range?: ArtifactRange) => Promise<ArtifactContent>
  }
  /** Plugins this host was told to start without, and why. */
  readonly skipped: ReadonlyArray<PluginError>
  readonly health: () => Promise<ReadonlyArray<PluginHealth>>
  /** Ends what still runs and closes every service. */
  readonly dispose: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export interface PromiseCallOptions extends Omit<CallOptions, "ask"> {
  readonly ask?: (question: ApprovalQuestion) => Promise<Answer>
  /** Aborting it ends the call and whatever the call runs; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** The rejection of a call whose host is closed, or was closed while it ran. */
export class HostClosedError extends Error {
  override readonly name = "HostClosedError"
  readonly code = "host_closed"
}

/**
 * Builds a host and everything it needs, once: from a layer, or from {@link makeHost}, which keeps the types of its
 * tools.
 */
export const openHost = async <Given extends ClosedHost>(given: Given): Promise<OpenedHost<Given>> => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(layerOf(given), logToStderr))
  const host = await runtime.runPromise(Host.useSync((service) => service))
  let disposing: Promise<void> | undefined
  const run = <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
    new Promise((resolve, reject) => {
      if (disposing !== undefined) return reject(new HostClosedError("this host is closed: open another one"))
      // Before it starts: a call that never waits would be over before the signal could stop it.
      if (signal?.aborted === true) return reject(signal.reason as Error)
      const fiber = runtime.runFork(effect, signal === undefined ? {} : { signal })
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) return resolve(exit.value)
        if (!Cause.hasInterruptsOnly(exit.cause)) return reject(Cause.squash(exit.cause))
        if (signal?.aborted === true) return reject(signal.reason as Error)
        if (disposing === undefined) return reject(makeToolError("cancelled", "the call was interrupted"))
        reject(new HostClosedError("the host was closed before the call ended"))
      })
    })
  const dispose = (): Promise<void> => (disposing ??= runtime.dispose())
  const call: OpenHost["call"] = (tool, args, options = {}) =>
    run(host.call(tool, args, asEffects(options)), options.signal)
  const open: OpenHost = {
    dialect: host.dialect,
    tools: host.tools,
    call,
    tool: (name) => (args, options) => call(name, args, options),
    preview: (tool, args) => run(host.preview(tool, args)),
    decode: (tool, args) => run(host.decode(tool, args)),
    defaults: host.defaults,
    artifacts: {
      list: (reader) => run(host.artifacts.list(reader)),
      read: (address, range) => run(host.artifacts.read(address, range))
    },
    skipped: host.skipped,
    health: () => run(host.health),
    dispose,
    [Symbol.asyncDispose]: dispose
  }
  return open as OpenedHost<Given>
}

type ClosedHost = Layer.Layer<Host, unknown> | Effect.Effect<HostService, unknown, Scope.Scope>

const layerOf = (given: ClosedHost): Layer.Layer<Host, unknown> =>
  Effect.isEffect(given) ? Layer.effect(Host, given) : given

type OpenedHost<Given> =
  Given extends Effect.Effect<TypedHostService<infer Tools, infer Others>, unknown, Scope.Scope>
    ? TypedHost<Tools, Others>
    : OpenHost

const asEffects = ({ ask, ...options }: PromiseCallOptions): CallOptions =>
  ask === undefined ? options : { ...options, ask: (question) => Effect.promise(async () => ask(question)) }

// Standard output may carry a protocol, so nothing is ever logged there.
const logToStderr = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

export {
  type AsyncPluginDefinition,
  type AsyncToolContext,
  type AsyncToolDefinition,
  type AsyncWorkspace,
  definePlugin,
  defineService,
  defineTool,
  type LentService
} from "./plugin/async-plugin.ts"
export type { ContentBlock, Reply } from "./pipeline/call.ts"
export type { CallPreview, ToolDescription } from "./host.ts"
export { type ConfiguredPlugin, type Plugin, use } from "./plugin/plugin.ts"
export { isPluginError, type PluginError } from "./plugin/plugin-error.ts"
export type { Answer, ApprovalQuestion } from "./services/approver.ts"
// Here it is thrown, where an Effect fails with it.
export { type ErrorCode, isToolError, makeToolError as toolError, type ToolError } from "./tool-error.ts"
export type { Tool, ToolTypes } from "./tool.ts"
export type { ReplyOf, ToolsIn, TypedHost } from "./typed-call.ts"
