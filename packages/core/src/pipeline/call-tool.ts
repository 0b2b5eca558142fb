import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

import type { Dialect } from "../dialect.ts"
import { type PlainData, plainData, prepareWith, whyNoData } from "../schema/reply-limits.ts"
import { Approver, type AskCaller } from "../services/approver.ts"
import { CallLedger } from "../services/call-ledger.ts"
import { Journal } from "../services/journal.ts"
import type { Workspace } from "../services/workspace.ts"
import { redact, redactText } from "../text/redact.ts"
import { singleLine } from "../text/visible-text.ts"
import {
  type ErrorCode,
  errorCodes,
  isToolError,
  makeToolError,
  toolError,
  type ToolError,
  withMessage
} from "../tool-error.ts"
import type { Executed, FailingTool, PreparedCall, Tool } from "../tool.ts"
import type { Facts } from "../touches.ts"
import { type ApprovalWatcher, approve, type ApprovedCall, type Decision } from "./approve.ts"
import { assess } from "./assess.ts"
import {
  type Call,
  type CallContext,
  CurrentCall,
  type Party,
  type Progress,
  type Reply,
  type SymlinkPolicy
} from "./call.ts"
import { exhaustedIn, outOfResources } from "./out-of-resources.ts"
import { paramsForRecord } from "./recorded-params.ts"
import { redactProgress, redactReply, refuseMark } from "./redact-reply.ts"
import { holdErrorToBudget, holdToBudget, type ReplyBudget } from "./reply-budget.ts"
import { stepSpan } from "./trace.ts"

/** The codes that a call of any tool can fail with: those of the road with a tool that can't fail itself. */
export type RoadCode = (
  | Effect.Error<ReturnType<(typeof Journal.Service)["append"]>>
  | Effect.Error<ReturnType<typeof travel<never, never>>>
  | Effect.Success<ReturnType<typeof failureOf<never>>>
)["code"]

/** Services that the pipeline itself requires; tools may require more. */
export type RoadServices = Workspace | Approver | Journal

export interface CallOptions {
  /** The caller's own id for the request; made up when absent. */
  readonly requestId?: string
  readonly onProgress?: (progress: Progress) => void
  /** The caller's own span, as a `traceparent` header of W3C's Trace Context has it. */
  readonly traceParent?: string
  /** The caller, for the audit log and for approvers. */
  readonly caller?: Party
  /** Called with the call as soon as it has its number. */
  readonly onStarted?: (call: Call) => void
  /** Ends the call with `cancelled` when it succeeds, with its value as the message. */
  readonly stop?: Effect.Effect<string>
  /** How the caller itself can be asked for approval. Whether its answer counts is the approver's decision. */
  readonly ask?: AskCaller
}

export interface RoadSettings<R, Code extends ErrorCode = ErrorCode> {
  readonly dialect: Dialect
  readonly symlinks: SymlinkPolicy
  /** Bytes of a reply at most; what is beyond them becomes an artifact. */
  readonly replyBytes: number
  /** Replaces secrets in replies too, not only in the audit log. */
  readonly redactReplies: boolean
  readonly find: (name: string) => FailingTool<R, Code> | undefined
  readonly names: () => ReadonlyArray<string>
}

/**
 * The road of a call, the same for every transport and every dialect:
 * record( decode → assess → approve → execute ) → encode.
 */
export const callTool = <R>(
  settings: RoadSettings<R>,
  name: string,
  args: unknown,
  options: CallOptions = {}
): Effect.Effect<Reply, never, R | RoadServices> =>
  Effect.uninterruptibleMask((restore) => road(settings, shortName(name), args, options, restore))

// Outside of callTool, so that the generator function is made once: making it for every call took longer than running it.
const road = Effect.fnUntraced(function* <R>(
  settings: RoadSettings<R>,
  name: string,
  args: unknown,
  options: CallOptions,
  restore: <A, E, S>(effect: Effect.Effect<A, E, S>) => Effect.Effect<A, E, S>
) {
  const journal = yield* Journal
  const clock = yield* Clock.Clock
  const begin = clock.monotonicTimeNanosUnsafe()
  const call = newCall(settings, name, options, { journal, startedAt: clock.currentTimeMillisUnsafe() })
  const { id, step, dialect, startedAt } = call
  options.onStarted?.(call)
  const given = plainData(args)
  const known: KnownSoFar = {}
  const tool = settings.find(name)
  const operation = tool === undefined ? {} : { operation: tool.operation }
  const caller = call.caller === undefined ? {} : { caller: call.caller }
  const named = { request_id: id, step, tool: name, ...operation, dialect, ...caller }
  const started = { type: "tool_call_started", ...named, at: startedAt }
  // A call that only reads, on this machine, may run before its start is written: it is enough that both its events are
  // on record before the caller gets the reply.
  const isReading = tool?.risk === "read_only" && !tool.openWorld
  const recorded = Effect.flatMap(paramsForRecord(tool, given.data), (params) =>
    journal.append({ ...started, params }, isReading ? { canWait: "unheeded" } : {})
  )
  const untilStopped = stoppable(travel(settings, call, given, known), options.stop)
  const traveled = restore(Effect.provideService(untilStopped, CurrentCall, call))
  const exit = yield* Effect.exit(Effect.andThen(recorded, traveled))
  const outcome = yield* outcomeOf(exit, call)
  const durationMs = Number(clock.monotonicTimeNanosUnsafe() - begin) / 1e6
  const endedAt = startedAt + Math.round(durationMs)
  const ended = { call, endedAt, durationMs }
  const reply = yield* encoded(settings, ended, known, outcome)
  const finished = {
    type: "tool_call_finished",
    request_id: id,
    step,
    tool: name,
    at: endedAt,
    status: reply.ok ? "success" : "error",
    ...(reply.error !== undefined && { error: reply.error.code }),
    duration_sec: durationMs / 1000,
    ...(known.waitedMs !== undefined && { waited_sec: known.waitedMs / 1000 }),
    ...(known.facts !== undefined && { touches: touchesForRecord(known.facts) }),
    ...(known.approval !== undefined && { approval: known.approval }),
    reply: redact(reply.wire)
  }
  const written = journal.append(finished, isReading ? { canWait: "awaited" } : { durable: reply.writes.length > 0 })
  const unrecorded = yield* Effect.match(written, { onFailure: (error) => error, onSuccess: () => undefined })
  if (unrecorded !== undefined) yield* Effect.logError(`the end of call ${id} is not on record`, unrecorded.message)
  if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
  // A read can still be withheld. A change is made by now, and saying otherwise would be wrong.
  if (unrecorded !== undefined && isReading) return yield* encoded(settings, ended, known, unrecorded)
  return reply
})

/** Decodes arguments as the road does: keys in schema order, defaults filled in. */
export const decodeCall = Effect.fnUntraced(function* <R>(settings: RoadSettings<R>, name: string, args: unknown) {
  const tool = yield* findTool(settings, name)
  return (yield* prepareWith(tool, plainData(args), settings.dialect)).input
})

/** Runs the road up to and including assess and judge, and says what the call would do. */
export const previewCall = Effect.fnUntraced(function* <R>(settings: RoadSettings<R>, name: string, args: unknown) {
  const tool = yield* findTool(settings, name)
  const prepared = yield* prepareWith(tool, plainData(args), settings.dialect)
  const facts = yield* assess(tool, prepared)
  const asks = (yield* prepared.asks(facts)) ?? settings.dialect.asks(facts.risk)
  const diff = prepared.preview === undefined ? undefined : yield* prepared.preview
  const approver = yield* Approver
  const startedAt = yield* Clock.currentTimeMillis
  const { name: toolName, operation } = tool
  const call = { id: "preview", step: 0, tool: toolName, operation, dialect: settings.dialect.name, startedAt }
  const defaults = () => tool.defaults
  const verdict = yield* approver.judge({ call, input: prepared.input, facts, defaults, asks, isPreview: true })
  return {
    tool: tool.name,
    input: prepared.input,
    facts,
    asks,
    verdict,
    ...(diff !== undefined && { diff: settings.redactReplies ? redactText(diff) : diff })
  }
})

// Until it is judged, and where it says that it writes nothing, a call changes nothing.
const nothing: ReadonlyArray<string> = []

const newCall = <R>(
  { dialect, symlinks, redactReplies }: RoadSettings<R>,
  tool: string,
  { requestId, onProgress, ask, caller }: CallOptions,
  { journal: { run, nextStep }, startedAt }: { readonly journal: typeof Journal.Service; readonly startedAt: number }
): CallContext => {
  const step = nextStep()
  return {
    id: requestId ?? `${run}-${step}`,
    step,
    tool,
    dialect: dialect.name,
    startedAt,
    run,
    symlinks,
    assessedWrites: nothing,
    ...(onProgress !== undefined && {
      onProgress: redactReplies ? (progress: Progress) => onProgress(redactProgress(progress)) : onProgress
    }),
    ...(ask !== undefined && { ask }),
    ...(caller !== undefined && { caller })
  }
}

/** State of a call in the pipeline. Filled in step by step, because a call that ends early is recorded and encoded too. */
interface KnownSoFar {
  tool?: Tool<unknown>
  prepared?: PreparedCall<unknown>
  facts?: Facts
  approval?: Decision & { readonly asks: boolean }
  waitedMs?: number
  /** Changes and comment of the approver. */
  notes?: ReadonlyArray<string>
}

// Input of a terminal may be a password: the record has the terminal only.
const touchesForRecord = (facts: Facts): unknown => {
  const { reads, writes, directories, removedFiles, replacedBytes, runs, network, confined, fetches, types } = facts
  return {
    risk: facts.risk,
    ...(reads.length > 0 && { reads }),
    ...(directories !== undefined && { directories }),
    ...(writes.length > 0 && { writes: writes.map(({ path, exists }) => ({ path, exists })) }),
    ...(runs !== undefined && { runs: redactText(runs) }),
    ...(network !== undefined && { network }),
    ...(confined !== undefined && { confined }),
    ...(removedFiles !== undefined && { removedFiles }),
    ...(replacedBytes !== undefined && { replacedBytes }),
    ...(fetches !== undefined && { fetches: redactText(fetches) }),
    ...(types !== undefined && { types: types.terminal })
  }
}

const travel = Effect.fnUntraced(function* <R, Code extends ErrorCode>(
  settings: RoadSettings<R, Code>,
  call: CallContext,
  given: PlainData,
  known: KnownSoFar
) {
  const tool = yield* findTool(settings, call.tool)
  known.tool = tool
  const decoded = yield* stepSpan("decode")(prepareWith(tool, given, settings.dialect))
  known.prepared = decoded
  if (settings.redactReplies && tool.risk !== "read_only") yield* refuseMark(decoded.input)
  const watcher: ApprovalWatcher = {
    assessed: (facts) => {
      known.facts = facts
    },
    decided: (decision) => {
      known.approval = decision
    },
    waited: (milliseconds) => {
      known.waitedMs = (known.waitedMs ?? 0) + milliseconds
    },
    noted: (note) => {
      known.notes = [...(known.notes ?? []), note]
    }
  }
  const approved = yield* approve(settings.dialect, tool, decoded, watcher)
  known.prepared = approved.prepared
  const executed = withTimeout(approved.prepared).pipe(
    stepSpan("execute"),
    Effect.flatMap((done) => holdToBudget(done, call, budgetOf(settings, tool)))
  )
  const { facts, state, prepared, refusedHunks }: ApprovedCall<R, Code> = approved
  const ledger = yield* CallLedger
  if (ledger !== undefined) yield* ledger.claim(call, facts)
  const isDeclared = state !== undefined || facts.writes.length > 0 || facts.runs !== undefined
  if (!isDeclared && facts.risk === "read_only") return yield* executed
  return yield* Effect.provideService(executed, CurrentCall, {
    ...call,
    ...(isDeclared && { assessedWrites: facts.writes.map(({ path }) => path) }),
    // A tool whose effects are known only afterwards has them judged then.
    ...((facts.runs !== undefined || facts.writes.length === 0) && {
      approval: {
        operation: tool.operation,
        input: prepared.input,
        defaults: () => tool.defaults,
        facts,
        canAsk: settings.dialect.asks("dangerous"),
        watcher
      }
    }),
    ...(state !== undefined && { approvedState: state }),
    ...(refusedHunks !== undefined && { refusedHunks })
  })
})

const findTool = <R, Code extends ErrorCode>(
  settings: RoadSettings<R, Code>,
  name: string
): Effect.Effect<FailingTool<R, Code>, ToolError<"unknown_tool">> => {
  const tool = settings.find(name)
  return tool === undefined
    ? toolError("unknown_tool", `unknown tool '${shortName(name)}'`, {
        suggestion: `Use one of: ${settings.names().join(", ")}.`
      })
    : Effect.succeed(tool)
}

/** No tool has a longer name. A longer one, which a caller made up, is on record and in the reply by its beginning. */
const longestName = 1_000

const shortName = (name: string): string =>
  name.length <= longestName ? name : `${name.slice(0, longestName).toWellFormed()}…`

const budgetOf = (
  { dialect, replyBytes }: Pick<RoadSettings<never>, "dialect" | "replyBytes">,
  tool: Pick<Tool<unknown>, "dialect"> | undefined
): ReplyBudget => ({ bytes: replyBytes, clipsTexts: tool?.dialect === "any" || dialect.clipsTexts === true })

const withTimeout = <R, Code extends ErrorCode>(
  prepared: PreparedCall<R, Code>
): Effect.Effect<Executed, ToolError<Code> | ToolError<"timeout">, R> => {
  const { timeout } = prepared
  if (timeout === undefined) return prepared.execute
  return Effect.flatMap(Effect.forkChild(prepared.execute, { startImmediately: true }), (fiber) => {
    // A tool that never waits has ended by now, and needs no timer.
    const exit = fiber.pollUnsafe()
    return exit ?? stopAfter(fiber, timeout)
  })
}

/** The effect until `stop` succeeds. One that never waits has ended before, and costs no race. */
const stoppable = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  stop: Effect.Effect<string> | undefined
): Effect.Effect<A, E | ToolError<"cancelled">, R> => {
  if (stop === undefined) return effect
  const stopped = Effect.flatMap(stop, (message) =>
    toolError("cancelled", message, { suggestion: "A person stopped this call: do not repeat it without asking." })
  )
  return Effect.flatMap(
    Effect.forkChild(effect, { startImmediately: true }),
    (fiber): Effect.Effect<A, E | ToolError<"cancelled">> =>
      fiber.pollUnsafe() ?? Effect.raceFirst(Fiber.join(fiber), stopped).pipe(Effect.ensuring(Fiber.interrupt(fiber)))
  )
}

const stopAfter = <A, E>(
  fiber: Fiber.Fiber<A, E>,
  timeout: Duration.Input
): Effect.Effect<A, E | ToolError<"timeout">> =>
  Fiber.join(fiber).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        toolError(
          "timeout",
          `the call took longer than ${Duration.format(Duration.fromInputUnsafe(timeout))} and was stopped`,
          { suggestion: "Ask for less at once, or try again when the machine has less to do.", retryable: true }
        )
    }),
    Effect.ensuring(Fiber.interrupt(fiber))
  )

// The only place that looks at defects: a bug in a tool ends its call, not the host.
const outcomeOf = (exit: Exit.Exit<Executed, ToolError>, call: Call): Effect.Effect<Executed | ToolError> => {
  if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
  const { cause } = exit
  // A value that a tool throws may itself throw when it is looked at.
  return Effect.suspend(() => failureOf(cause, call)).pipe(Effect.catchCause((odd) => defectIn(call, odd)))
}

/** The failure in a cause, or an error for what no type foresees: an interruption, a machine that lacks something, a bug. */
const failureOf = <E extends ToolError>(
  cause: Cause.Cause<E>,
  call: Call
): Effect.Effect<E | ToolError<"cancelled" | "internal_error" | "out_of_resources">> => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (isToolError(failure) && errorCodes.includes(failure.code)) return Effect.succeed(failure)
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(makeToolError("cancelled", "the call was cancelled"))
  const missing = exhaustedIn(Cause.squash(cause))
  if (missing !== undefined) return Effect.succeed(outOfResources(call, missing))
  return defectIn(call, cause)
}

const defectIn = (call: Call, cause: unknown): Effect.Effect<ToolError<"internal_error">> => {
  const heading = `defect in tool ${call.tool}, call ${call.id}`
  return Effect.logError(heading, cause).pipe(
    Effect.catchCause(() => Effect.logError(heading, "what was thrown can't be shown")),
    Effect.as(
      makeToolError("internal_error", `${call.tool} failed because of a bug in the tool`, {
        suggestion: "Try another way; the host's log has the cause.",
        details: { call: call.id }
      })
    )
  )
}

interface Finished {
  readonly call: Call
  readonly endedAt: number
  readonly durationMs: number
}

// A reply is made of the tool's output and of its own wording for failures. A bug in either ends this call as
// `internal_error`, worded without the tool's help, and nothing else.
const encoded = <R>(
  settings: RoadSettings<R>,
  finished: Finished,
  known: KnownSoFar,
  outcome: Executed | ToolError
): Effect.Effect<Reply> => {
  const { prepared: _itsWording, ...withoutWording } = known
  const failed = (cause: unknown): Effect.Effect<Reply> =>
    Effect.map(defectIn(finished.call, cause), (defect) => encode(settings, finished, withoutWording, defect))
  try {
    const reply = encode(settings, finished, known, outcome)
    const problem = whyNoData(reply.wire) ?? whyNoData(reply.text) ?? whyNoData(reply.blocks)
    if (problem === undefined) return Effect.succeed(settings.redactReplies ? redactReply(reply) : reply)
    return failed(`what it answers is no plain data: ${problem}`)
  } catch (cause) {
    return failed(cause)
  }
}

const encode = (
  settings: Pick<RoadSettings<never>, "dialect" | "replyBytes">,
  finished: Finished,
  known: KnownSoFar,
  outcome: Executed | ToolError
): Reply => {
  const { dialect } = settings
  const writes = known.facts?.writes.map(({ path }) => path) ?? []
  const adjusted = [...(known.prepared?.adjusted ?? []), ...(known.notes ?? [])]
  const { durationMs } = finished
  if (!isToolError(outcome)) {
    const isForeign = known.tool?.dialect !== dialect.name
    const { output, text, blocks, shortened } = outcome
    const told = { ...finished, output, text, writes, adjusted, isForeign }
    const wire = dialect.success(shortened === undefined ? told : { ...told, shortened })
    return { ok: true, output, wire, text, blocks, writes, adjusted, ...notesIn(known), durationMs }
  }
  const error = holdErrorToBudget(reword(dialect, known.prepared, outcome), budgetOf(settings, known.tool))
  const failure = { ...finished, error, writes, adjusted, errorName: dialect.errorNames[error.code] }
  const wire = dialect.failure(failure)
  const text = dialect.failureText?.(failure) ?? failureText(error)
  const block = { type: "text", text } as const
  return { ok: false, error, wire, text, blocks: [block], writes, adjusted, ...notesIn(known), durationMs }
}

const notesIn = ({ notes }: KnownSoFar): Pick<Reply, "notes"> => (notes === undefined ? {} : { notes })

const reword = (dialect: Dialect, prepared: PreparedCall<unknown> | undefined, error: ToolError): ToolError => {
  const byTool = prepared?.reword(error) ?? error
  if (byTool !== error) return byTool
  const byDialect = dialect.wording?.[error.code] as ((error: ToolError, input: unknown) => string) | undefined
  return byDialect === undefined ? error : withMessage(error, byDialect(error, prepared?.input ?? {}))
}

// Lines after the first are indented: a name with a line break in it, which a message may quote, can't forge a line.
const failureText = ({ message, suggestion }: ToolError): string => {
  const lines = message.split("\n").map(singleLine).join("\n  ")
  return suggestion === undefined ? `Error: ${lines}` : `Error: ${lines}\n${suggestion}`
}
