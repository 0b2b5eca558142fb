import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as z from "zod"

import { AttachedBlocks, type ContentBlock, CurrentCall, type Progress } from "../pipeline/call.ts"
import { Processes } from "../services/processes.ts"
import { type Program, type ProgramEnd, runProgram } from "../services/run-program.ts"
import { Sandbox } from "../services/sandbox.ts"
import { Workspace, type WorkspaceService } from "../services/workspace.ts"
import { type ErrorCode, isToolError, toolError, type ToolError } from "../tool-error.ts"
import { defineTool as defineEffectTool, type Tool, type ToolDefinition, type TypesOf } from "../tool.ts"
import type { Touches } from "../touches.ts"
import { definePlugin as defineEffectPlugin, type Plugin, type PluginDefinition, type TypesIn } from "./plugin.ts"

/** Context of an async tool's call. */
export interface AsyncToolContext {
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
  /** Adds a content block, such as an image, to the answer, behind its text. Models read the output as text. */
  readonly attach: (block: ContentBlock) => void
  /** The workspace, with promises. They reject with a {@link ToolError}, which the tool may let through. */
  readonly workspace: AsyncWorkspace
  /** Runs a program in the host's sandbox. It ends with the call. */
  readonly run: (program: Program) => Promise<ProgramEnd>
  /** Value that the plugin lends to its tools, see {@link defineService}. */
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
export interface AsyncToolDefinition<
  Name extends string,
  Input extends z.ZodObject,
  Output extends z.ZodObject,
  Code extends ErrorCode = ErrorCode
> extends Omit<ToolDefinition<Name, Input, Output, never>, "execute" | "preview" | "touches"> {
  /**
   * The codes of the errors that the tool throws, for the type of `reply.error.code`. A promise does not say what it
   * rejects with, so nothing checks the list; without it any code is possible.
   */
  readonly throws?: ReadonlyArray<Code>
  readonly touches?: (input: z.output<Input>, context: AsyncToolContext) => Touches | Promise<Touches>
  readonly execute: (input: z.output<Input>, context: AsyncToolContext) => Promise<z.input<Output>>
  readonly preview?: (input: z.output<Input>, context: AsyncToolContext) => Promise<string>
}

export const defineTool = <
  const Name extends string,
  Input extends z.ZodObject,
  Output extends z.ZodObject,
  const Code extends ErrorCode = ErrorCode
>({
  execute,
  preview,
  touches,
  throws: _codes,
  ...definition
}: AsyncToolDefinition<Name, Input, Output, Code>): Tool<
  never,
  TypesOf<
    "any",
    Name,
    { [Key in keyof z.input<Input>]: z.input<Input>[Key] },
    { [Key in keyof z.output<Output>]: z.output<Output>[Key] },
    Code
  >
> =>
  defineEffectTool<Name, Input, Output, never, Code>({
    ...definition,
    execute: (input) => withContext<z.input<Output>, Code>((context) => execute(input, context)),
    ...(touches !== undefined && {
      touches: (input: z.output<Input>) =>
        Effect.flatMap(Effect.context(), (services) => {
          const loan = new Loan()
          const told = touches(
            input,
            contextOf(services, loan, () => undefined)
          )
          return told instanceof Promise ? fromPromise<Touches, Code>(loan, () => told) : Effect.succeed(told)
        })
    }),
    ...(preview !== undefined && {
      preview: (input: z.output<Input>) => withContext<string, Code>((context) => preview(input, context))
    })
  })

/** Something a plugin makes when it starts and its tools use. Its name is unique, as in `my-plugin/Client`. */
export interface LentService<A> {
  readonly name: string
  readonly key: Context.Key<A, A>
}

export const defineService = <A>(name: string): LentService<A> => ({ name, key: Context.Service<A, A>(name) })

/** A plugin whose life is told by async functions. */
export interface AsyncPluginDefinition<Config extends z.ZodType, A, T extends Tool = Tool> extends Omit<
  PluginDefinition<Config, T, never, never>,
  "layer" | "health"
> {
  /** Value made by `start`, for the tools to `use`. */
  readonly lends?: LentService<A>
  readonly start?: (config: z.output<Config>, signal: AbortSignal) => Promise<A>
  /** Runs when the host closes, with what `start` made. */
  readonly stop?: (started: A) => Promise<void>
  /** Throws while the plugin can't do its work. */
  readonly health?: (started: A, signal: AbortSignal) => Promise<void>
}

export const definePlugin = <
  T extends Tool = Tool,
  Config extends z.ZodType = z.ZodOptional<z.ZodUndefined>,
  A = undefined
>({
  lends,
  start,
  stop,
  health,
  ...definition
}: AsyncPluginDefinition<Config, A, T>): Plugin<never, z.input<Config>, TypesIn<T>> => {
  const { key } = lends ?? defineService<A>(`${definition.name}/started`)
  const started = (config: z.output<Config>): Effect.Effect<A> =>
    start === undefined ? Effect.succeed(undefined as A) : Effect.promise((signal) => start(config, signal))
  const plugin = defineEffectPlugin<T, Config, A>({
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
  // A tool made of async functions needs nothing from the host, which the compiler can't see through `T`.
  return plugin as Plugin<never, z.input<Config>, TypesIn<T>>
}

const withContext = <A, Code extends ErrorCode>(
  run: (context: AsyncToolContext) => Promise<A>
): Effect.Effect<A, ToolError<Code>> =>
  Effect.gen(function* () {
    const services = yield* Effect.context()
    const call = yield* CurrentCall
    const loan = new Loan()
    return yield* fromPromise<A, Code>(loan, () =>
      run(contextOf(services, loan, (progress) => call.onProgress?.(progress)))
    )
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
    attach: (block) => void Context.get(services, AttachedBlocks)?.push(block),
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

/** Work that a call began through the host's services. It ends with the call, whether the tool waits for it or not. */
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

/** A promise as an effect. What it rejects with has the codes that the author named, which nothing can check. */
const fromPromise = <A, Code extends ErrorCode>(loan: Loan, run: () => Promise<A>): Effect.Effect<A, ToolError<Code>> =>
  Effect.promise(() => run().then(Effect.succeed, failed<Code>)).pipe(Effect.flatten, Effect.ensuring(loan.end))

const failed = <Code extends ErrorCode>(cause: unknown): Effect.Effect<never, ToolError<Code>> =>
  isToolError(cause) ? Effect.fail(cause as ToolError<Code>) : Effect.die(cause)
