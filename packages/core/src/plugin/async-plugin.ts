import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as z from "zod"

import { CurrentCall, type Progress } from "../pipeline/call.ts"
import { Processes } from "../services/processes.ts"
import { type Program, type ProgramEnd, runProgram } from "../services/run-program.ts"
import { Sandbox } from "../services/sandbox.ts"
import { Workspace, type WorkspaceService } from "../services/workspace.ts"
import { isToolError, toolError, type ToolError } from "../tool-error.ts"
import { defineTool as defineEffectTool, type Tool, type ToolDefinition } from "../tool.ts"
import type { Touches } from "../touches.ts"
import { definePlugin as defineEffectPlugin, type Plugin, type PluginDefinition } from "./plugin.ts"

/** What an async tool gets besides its input. */
export interface AsyncToolContext {
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
  /** The workspace, with promises. They reject with a {@link ToolError}, which the tool may let through. */
  readonly workspace: AsyncWorkspace
  /** Runs a program in the host's sandbox. It ends with the call. */
  readonly run: (program: Program) => Promise<ProgramEnd>
  /** What the plugin lends its tools, see {@link defineService}. */
  readonly use: <A>(service: LentService<A>) => A
}

/** The workspace without Effect. */
export type AsyncWorkspace = {
  readonly [Key in keyof WorkspaceService]: WorkspaceService[Key] extends (
    ...args: infer Args
  ) => Effect.Effect<infer A, infer _E>
    ? (...args: Args) => Promise<A>
    : WorkspaceService[Key]
}

/** A tool made of async functions. Throw a {@link ToolError} for a failure the caller can act on. */
export interface AsyncToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> extends Omit<
  ToolDefinition<Input, Output, never>,
  "execute" | "preview" | "touches"
> {
  readonly touches?: (input: z.output<Input>, context: AsyncToolContext) => Touches | Promise<Touches>
  readonly execute: (input: z.output<Input>, context: AsyncToolContext) => Promise<z.input<Output>>
  readonly preview?: (input: z.output<Input>, context: AsyncToolContext) => Promise<string>
}

export const defineTool = <Input extends z.ZodObject, Output extends z.ZodObject>({
  execute,
  preview,
  touches,
  ...definition
}: AsyncToolDefinition<Input, Output>): Tool =>
  defineEffectTool({
    ...definition,
    execute: (input) => withContext((context) => execute(input, context)),
    ...(touches !== undefined && {
      touches: (input: z.output<Input>) =>
        Effect.flatMap(Effect.context(), (services) => {
          const loan = new Loan()
          const told = touches(
            input,
            contextOf(services, loan, () => undefined)
          )
          return told instanceof Promise ? fromPromise(loan, () => told) : Effect.succeed(told)
        })
    }),
    ...(preview !== undefined && {
      preview: (input: z.output<Input>) => withContext((context) => preview(input, context))
    })
  })

/** Something a plugin makes when it starts and its tools use. Its name is unique, as in `my-plugin/Client`. */
export interface LentService<A> {
  readonly name: string
  readonly key: Context.Key<A, A>
}

export const defineService = <A>(name: string): LentService<A> => ({ name, key: Context.Service<A, A>(name) })

/** A plugin whose life is told by async functions. */
export interface AsyncPluginDefinition<Config extends z.ZodType, A> extends Omit<
  PluginDefinition<Config, Tool, never, never>,
  "layer" | "health"
> {
  /** What `start` makes, for the tools to `use`. */
  readonly lends?: LentService<A>
  readonly start?: (config: z.output<Config>, signal: AbortSignal) => Promise<A>
  /** Runs when the host closes, with what `start` made. */
  readonly stop?: (started: A) => Promise<void>
  /** Throws while the plugin can't do its work. */
  readonly health?: (started: A, signal: AbortSignal) => Promise<void>
}

export const definePlugin = <Config extends z.ZodType = z.ZodOptional<z.ZodUndefined>, A = undefined>({
  lends,
  start,
  stop,
  health,
  ...definition
}: AsyncPluginDefinition<Config, A>): Plugin<never, z.input<Config>> => {
  const { key } = lends ?? defineService<A>(`${definition.name}/started`)
  const started = (config: z.output<Config>): Effect.Effect<A> =>
    start === undefined ? Effect.succeed(undefined as A) : Effect.promise((signal) => start(config, signal))
  return defineEffectPlugin<Tool, Config, A>({
    ...definition,
    layer: (config) =>
      Layer.effect(
        key,
        Effect.acquireRelease(
          started(config),
          (value) =>
            stop === undefined
              ? Effect.void
              : Effect.promise(() => stop(value)).pipe(
                  Effect.catchCause((cause) => Effect.logError(`plugin ${definition.name} did not stop cleanly`, cause))
                ),
          { interruptible: true }
        )
      ),
    ...(health !== undefined && {
      health: () => Effect.flatMap(key, (value) => Effect.promise((signal) => health(value, signal)))
    })
  })
}

const withContext = <A>(run: (context: AsyncToolContext) => Promise<A>): Effect.Effect<A, ToolError> =>
  Effect.gen(function* () {
    const services = yield* Effect.context()
    const call = yield* CurrentCall
    const loan = new Loan()
    return yield* fromPromise(loan, () => run(contextOf(services, loan, (progress) => call.onProgress?.(progress))))
  })

const contextOf = (
  services: Context.Context<never>,
  loan: Loan,
  progress: AsyncToolContext["progress"]
): AsyncToolContext => {
  const promise = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
    loan.watch(Effect.runPromiseWith(services)(effect, { signal: loan.signal }))
  return {
    signal: loan.signal,
    progress,
    get workspace() {
      // The road has a workspace wherever a tool executes.
      return asyncWorkspace(Context.get(services as Context.Context<Workspace>, Workspace), promise)
    },
    run: (program) => promise(Effect.suspend(() => runWhereAllowed(services, program))),
    use: ({ name, key }) =>
      Option.getOrThrowWith(
        Context.getOption(services, key),
        () => new Error(`no plugin of this host lends ${name}: name it in \`lends\` of definePlugin`)
      )
  }
}

const asyncWorkspace = (
  workspace: WorkspaceService,
  promise: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
): AsyncWorkspace => {
  const methods = Object.entries(workspace).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === "function" ? (...args: ReadonlyArray<unknown>) => promise(member(...args)) : member
  ])
  return Object.fromEntries(methods) as AsyncWorkspace
}

const runWhereAllowed = (services: Context.Context<never>, program: Program): Effect.Effect<ProgramEnd, ToolError> => {
  const hasThem =
    Option.isSome(Context.getOption(services, Sandbox)) && Option.isSome(Context.getOption(services, Processes))
  if (!hasThem) return toolError("sandbox_unavailable", "this host runs no programs")
  return Effect.provideContext(runProgram(program), services as Context.Context<Workspace | Sandbox | Processes>)
}

/** What a call began through the host's services. It ends with the call, whether the tool waits for it or not. */
class Loan {
  readonly #controller = new AbortController()
  readonly #open: Array<Promise<unknown>> = []
  readonly signal = this.#controller.signal

  watch<A>(work: Promise<A>): Promise<A> {
    this.#open.push(work)
    return work
  }

  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#controller.abort()
    return this.#open.length === 0 ? Effect.void : Effect.promise(() => Promise.allSettled(this.#open))
  })
}

const fromPromise = <A>(loan: Loan, run: () => Promise<A>): Effect.Effect<A, ToolError> =>
  Effect.promise(() => run().then(Effect.succeed, failed)).pipe(Effect.flatten, Effect.ensuring(loan.end))

const failed = (cause: unknown): Effect.Effect<never, ToolError> =>
  isToolError(cause) ? Effect.fail(cause) : Effect.die(cause)
