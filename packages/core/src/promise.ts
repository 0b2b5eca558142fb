import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { Dialect } from "./dialect.ts"
import { type CallPreview, Host, type PluginHealth, type ToolDescription } from "./host.ts"
import type { CallOptions } from "./pipeline/call-tool.ts"
import type { Reply } from "./pipeline/call.ts"
import type { PluginError } from "./plugin/plugin-error.ts"
import type { Answer, ApprovalQuestion } from "./services/approver.ts"

/** A host without Effect. */
export interface OpenHost {
  readonly dialect: Dialect
  readonly tools: ReadonlyArray<ToolDescription>
  readonly call: (tool: string, args: unknown, options?: PromiseCallOptions) => Promise<Reply>
  readonly preview: (tool: string, args: unknown) => Promise<CallPreview>
  /** Arguments as the road decodes them: keys in schema order, defaults filled in. */
  readonly decode: (tool: string, args: unknown) => Promise<Readonly<Record<string, unknown>>>
  /** The values of fields that a caller of a tool may leave out; undefined for an unknown tool. */
  readonly defaults: (tool: string) => Readonly<Record<string, unknown>> | undefined
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

/** Builds a host and everything it needs, once. */
export const openHost = async (layer: Layer.Layer<Host, unknown>): Promise<OpenHost> => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(layer, logToStderr))
  const host = await runtime.runPromise(Host.useSync((service) => service))
  const run = <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
    new Promise((resolve, reject) => {
      // Before it starts: a call that never waits would be over before the signal could stop it.
      if (signal?.aborted === true) return reject(signal.reason as Error)
      const fiber = runtime.runFork(effect, signal === undefined ? {} : { signal })
      fiber.addObserver((exit) =>
        Exit.isSuccess(exit) ? resolve(exit.value) : reject(rejectionOf(exit.cause, signal))
      )
    })
  const dispose = (): Promise<void> => runtime.dispose()
  return {
    dialect: host.dialect,
    tools: host.tools,
    call: (tool, args, options = {}) => run(host.call(tool, args, asEffects(options)), options.signal),
    preview: (tool, args) => run(host.preview(tool, args)),
    decode: (tool, args) => run(host.decode(tool, args)),
    defaults: host.defaults,
    skipped: host.skipped,
    health: () => run(host.health),
    dispose,
    [Symbol.asyncDispose]: dispose
  }
}

const asEffects = ({ ask, ...options }: PromiseCallOptions): CallOptions =>
  ask === undefined ? options : { ...options, ask: (question) => Effect.promise(() => ask(question)) }

// Standard output may carry a protocol, so nothing is ever logged there.
const logToStderr = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const rejectionOf = (cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): unknown =>
  signal?.aborted === true && Cause.hasInterruptsOnly(cause) ? signal.reason : Cause.squash(cause)

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
export type { Reply } from "./pipeline/call.ts"
export type { CallPreview, ToolDescription } from "./host.ts"
export { type ConfiguredPlugin, type Plugin, use } from "./plugin/plugin.ts"
export { isPluginError, type PluginError } from "./plugin/plugin-error.ts"
export type { Answer, ApprovalQuestion } from "./services/approver.ts"
// Here it is thrown, where an Effect fails with it.
export { type ErrorCode, isToolError, makeToolError as toolError, type ToolError } from "./tool-error.ts"
export type { Tool } from "./tool.ts"
