import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

import type { Dialect } from "../dialect.ts"
import { reasonOf } from "../plugin/plugin-error.ts"
import { plainData, prepareWith } from "../schema/reply-limits.ts"
import {
  type Answer,
  type ApprovalQuestion,
  type ApprovalRequest,
  Approver,
  type Verdict,
  type VerdictBasis
} from "../services/approver.ts"
import { Journal, type JournalEvent } from "../services/journal.ts"
import type { RefusedHunk } from "../services/refuse-hunks.ts"
import { Workspace } from "../services/workspace.ts"
import { redactText } from "../text/redact.ts"
import { type ErrorCode, toolError } from "../tool-error.ts"
import type { FailingTool, PreparedCall } from "../tool.ts"
import type { Facts, Risk } from "../touches.ts"
import { assess } from "./assess.ts"
import { type ApprovedState, CurrentCall, type Party } from "./call.ts"
import { paramsForRecord } from "./recorded-params.ts"
import { stepSpan } from "./trace.ts"

/** How often a question is asked again because a file changed under it. */
const maximumRounds = 3

/** How a call was decided, for the record. */
export interface Decision {
  readonly decision: "allow" | "deny"
  /** `nobody` where a person was asked and none answered. */
  readonly by: "policy" | "person" | "nobody"
  readonly reason: string
  readonly rule?: string
  /** Basis of the policy's verdict: why a person was asked or not. */
  readonly basis?: VerdictBasis
  /** The person, where known by name. */
  readonly person?: Party
}

/** Told what is known of a call as soon as it is, because a call may end at any moment. */
export interface ApprovalWatcher {
  readonly assessed: (facts: Facts) => void
  readonly decided: (decision: Decision & { readonly asks: boolean }) => void
  /** How long a question was open, in milliseconds. A call may ask more than once. */
  readonly waited: (milliseconds: number) => void
  /** Changes and comment of the approver, as text. */
  readonly noted: (note: string) => void
}

export interface ApprovedCall<R, Code extends ErrorCode = ErrorCode> {
  readonly prepared: PreparedCall<R, Code>
  readonly facts: Facts
  /** The state of the touched files that the decision holds for; absent where it does not depend on it. */
  readonly state?: ApprovedState
  /** Parts that a person refused. */
  readonly refusedHunks?: ReadonlyArray<RefusedHunk>
}

/** Gets consent for a call, or fails with `approval_denied`. What is approved is what runs. */
export const approve = Effect.fnUntraced(function* <R, Code extends ErrorCode>(
  dialect: Dialect,
  tool: FailingTool<R, Code>,
  first: PreparedCall<R, Code>,
  watcher: ApprovalWatcher
) {
  const call = yield* CurrentCall
  const { id, step, startedAt } = call
  let prepared = first
  let consented: Risk | undefined
  for (let round = 0; round < maximumRounds; round++) {
    const facts = yield* stepSpan("assess")(assess(tool, prepared))
    watcher.assessed(facts)
    const wish = yield* prepared.asks(facts)
    const asks = wish ?? dialect.asks(facts.risk)
    const request: ApprovalRequest = {
      call: {
        id,
        step,
        tool: tool.name,
        operation: tool.operation,
        dialect: dialect.name,
        startedAt,
        ...(call.caller !== undefined && { caller: call.caller })
      },
      input: prepared.input,
      facts,
      defaults: () => tool.defaults,
      asks,
      ...(tool.openWorld && { openWorld: true as const })
    }
    const verdict = yield* judge(request, watcher)
    const { decision, reason } = verdict
    const grounds = groundsOf(verdict)
    if (decision === "allow") {
      if (consented === undefined) watcher.decided({ decision, by: "policy", reason, ...grounds, asks })
      // Nobody was asked because the tool looked and saw, say, that nothing would be overwritten. That has to hold until
      // the write: what is absent now must still be absent then.
      return { prepared, facts, ...(wish === false && { state: absentIn(facts) }) } satisfies ApprovedCall<R, Code>
    }

    const look = stateOf([...facts.reads, ...facts.writes.map(({ path }) => path), ...(verdict.dependsOn ?? [])])
    const state = yield* look
    // The person's own arguments need no second question, unless they do more harm than those that were shown.
    if (consented !== undefined && harm[facts.risk] <= harm[consented]) {
      return { prepared, facts, state } satisfies ApprovedCall<R, Code>
    }
    let planned: string | undefined
    const onPlanned = (diff: string): void => {
      planned = diff
    }
    const preview =
      prepared.preview === undefined
        ? undefined
        : yield* Effect.provideService(stepSpan("preview")(prepared.preview), CurrentCall, { ...call, onPlanned })
    const isDivisible = preview !== undefined && planned === preview
    const question: ApprovalQuestion = {
      ...request,
      reason,
      ...grounds,
      state,
      ...(preview !== undefined && { preview }),
      ...(isDivisible && { isDivisible })
    }
    const consent = yield* stepSpan("ask")(askPerson(question, watcher))
    const named = decisionOf(consent, question)
    if (consent.modifiedArgs !== undefined) {
      // Edited arguments are decoded, assessed and judged like those of the caller.
      const edited = plainData(consent.modifiedArgs)
      const decoded = yield* Effect.result(stepSpan("decode")(prepareWith(tool, edited, dialect)))
      const diff = Result.isSuccess(decoded) ? yield* diffOf(decoded.success) : undefined
      yield* record(named, {
        params: yield* paramsForRecord(tool, edited.data),
        ...(diff !== undefined && { diff: redactText(diff) })
      })
      watcher.noted(`approved with changes: ${describeChanges(prepared.input, edited.data)}`)
      prepared = yield* Effect.fromResult(decoded)
      consented = facts.risk
      continue
    }
    const { refusedHunks = [] } = consent
    if (refusedHunks.length > 0 && !isDivisible) {
      return yield* toolError("approval_denied", "the call was approved in parts, but it can only be made as a whole", {
        suggestion: "Make smaller calls, one for each part."
      })
    }
    const parts = refusedHunks.length === 0 ? {} : { refusedHunks }
    yield* record(named, {
      ...(preview !== undefined && { diff: redactText(preview) }),
      ...(refusedHunks.length > 0 && { refused_hunks: refusedHunks })
    })
    if (isSameState(state, yield* look)) {
      if (refusedHunks.length > 0) watcher.noted(describeRefused(refusedHunks))
      const approved: ApprovedCall<R, Code> = { prepared, facts, state, ...parts }
      return approved
    }
  }
  return yield* toolError("stale_file", "the files kept changing while approval was asked for; nothing was run", {
    suggestion: "Read the files again, then repeat the call.",
    retryable: true
  })
})

const harm: Readonly<Record<Risk, number>> = { read_only: 0, safe_write: 1, dangerous: 2 }

/** The policy's verdict. A no is put on record and fails; a policy that fails says no. */
export const judge = Effect.fnUntraced(function* (request: ApprovalRequest, watcher: ApprovalWatcher) {
  const approver = yield* Approver
  const verdict = yield* failClosed<Verdict, never>(stepSpan("judge")(approver.judge(request)), (reason) => ({
    decision: "deny",
    reason: `the approval policy failed: ${reason}`
  }))
  const { decision, reason } = verdict
  for (const note of verdict.notes ?? []) watcher.noted(note)
  if (decision !== "deny") return { ...verdict, decision }
  const denial = { decision, by: "policy", reason, ...groundsOf(verdict) } as const
  watcher.decided({ ...denial, asks: request.asks })
  yield* record(denial)
  return yield* refused(denial)
})

const groundsOf = ({ rule, basis }: Pick<Verdict, "rule" | "basis">): Pick<Decision, "rule" | "basis"> => ({
  ...(rule !== undefined && { rule }),
  ...(basis !== undefined && { basis })
})

/** A person's yes, for the record. */
export const decisionOf = (consent: Answer, question: ApprovalQuestion): Decision => ({
  decision: "allow",
  reason: consent.reason ?? "approved",
  by: "person",
  ...groundsOf(question),
  ...personIn(consent)
})

/** The diff of edited arguments, for the record; none where it can't be made, because the call fails then too. */
const diffOf = <R, Code extends ErrorCode>({
  preview
}: PreparedCall<R, Code>): Effect.Effect<string | undefined, never, R> =>
  preview === undefined ? Effect.succeed(undefined) : Effect.orElseSucceed(preview, () => undefined)

/** Which arguments an approver changed, and to what, for the caller. */
const describeChanges = (before: Readonly<Record<string, unknown>>, after: unknown): string => {
  const edited: Readonly<Record<string, unknown>> = typeof after === "object" && after !== null ? { ...after } : {}
  const changed = Object.entries(edited).filter(
    ([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value)
  )
  const shown = changed.map(
    ([name, value]) => `${name} is ${clipEnd(JSON.stringify(value) ?? "absent", longestChange)}`
  )
  return shown.length === 0 ? "none that matter" : shown.join(", ")
}

const longestChange = 500

/** Which hunks an approver refused, for the caller, whose reply is about the whole change. */
const describeRefused = (refused: ReadonlyArray<RefusedHunk>): string => {
  const files = [...Map.groupBy(refused, ({ path }) => path)].map(([path, own]) => {
    const numbers = own.map(({ hunk }) => hunk).join(", ")
    return `${own.length === 1 ? "hunk" : "hunks"} ${numbers} of ${path}`
  })
  return `approved in part: ${files.join("; ")} refused and not made, the rest was made. Read the files again`
}

const clipEnd = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

/** A person's yes. Anything else fails: a no, and no answer. */
export const askPerson = Effect.fnUntraced(function* (question: ApprovalQuestion, watcher: ApprovalWatcher) {
  const approver = yield* Approver
  const { asks, reason, preview } = question
  const grounds = groundsOf(question)
  yield* append({ type: "approval_requested", reason, ...grounds })
  const asked = Effect.suspend(() => approver.ask(question)).pipe(
    Effect.onInterrupt(() => unanswered({ asks, ...grounds }, watcher)),
    timed(watcher.waited),
    // It may come from a program without types.
    Effect.filterOrElse(isAnswer, () => Effect.die(new TypeError("the answer has no `approved: true` or `false`")))
  )
  const answer: Answer = yield* failClosed(asked, (reason) => ({
    approved: false,
    unanswered: true,
    reason: `asking for approval failed: ${reason}`
  }))
  if (answer.approved && answer.unanswered !== true) {
    const reason = answer.reason ?? "approved"
    watcher.decided({ decision: "allow", by: "person", reason, ...grounds, ...personIn(answer), asks })
    if (answer.comment !== undefined) watcher.noted(`the approver's comment: ${answer.comment}`)
    return answer
  }
  const by = answer.unanswered === true ? "nobody" : "person"
  const refusal = answer.comment ?? answer.reason ?? (by === "nobody" ? "nobody answered" : "the request was refused")
  const decision = { decision: "deny", by, reason: refusal, ...grounds, ...personIn(answer) } as const
  watcher.decided({ ...decision, asks })
  yield* record(decision, preview === undefined ? {} : { diff: redactText(preview) })
  return yield* refused(decision, answer.overloaded)
})

const personIn = ({ by }: Answer): { readonly person?: Party } => (by === undefined ? {} : { person: by })

const isAnswer = (answer: unknown): answer is Answer =>
  typeof answer === "object" && answer !== null && "approved" in answer && typeof answer.approved === "boolean"

/** A no instead of a defect: whoever decides about calls is not the tool, and what fails to decide has not approved. */
const failClosed = <A, R>(
  decision: Effect.Effect<A, never, R>,
  refusal: (reason: string) => A
): Effect.Effect<A, never, R> =>
  Effect.catchCauseIf(decision, Predicate.not(Cause.hasInterruptsOnly), (cause) =>
    Effect.as(Effect.logError("approval failed", cause), refusal(reasonOf(Cause.squash(cause))))
  )

const refused = ({ by, reason }: Pick<Decision, "by" | "reason">, overloaded = false) =>
  toolError("approval_denied", `the call was not approved: ${reason}`, {
    suggestion:
      by === "nobody"
        ? "Nobody has said no: repeat the call when somebody is there, or do something that needs no approval."
        : "Do something that needs no approval, or ask the person to allow it.",
    details: { by, ...(overloaded && { overloaded }) },
    ...(overloaded && { retryable: true })
  })

// A call that is cancelled while its question is open was not approved: that goes on record as a no of nobody's.
const unanswered = (
  { asks, ...grounds }: Pick<Decision, "rule" | "basis"> & { readonly asks: boolean },
  watcher: ApprovalWatcher
) =>
  Effect.suspend(() => {
    const reason = "the caller canceled the call or disconnected"
    const decision = { decision: "deny", by: "nobody", reason, ...grounds } as const
    watcher.decided({ ...decision, asks })
    return Effect.ignore(record(decision))
  })

/** Tells how long an effect took, however it ended. */
const timed =
  (tell: (milliseconds: number) => void) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Clock.clockWith((clock) => {
      const begin = clock.monotonicTimeNanosUnsafe()
      return Effect.onExit(effect, () =>
        Effect.sync(() => tell(Number(clock.monotonicTimeNanosUnsafe() - begin) / 1e6))
      )
    })

/** Puts a decision on record, with the diff that it was about and the arguments that a person changed. */
export const record = (
  decision: Decision,
  about: { readonly params?: unknown; readonly diff?: string; readonly refused_hunks?: ReadonlyArray<RefusedHunk> } = {}
) => append({ type: "approval_decided", ...decision, ...about })

const append = Effect.fnUntraced(function* ({ type, ...more }: JournalEvent) {
  const journal = yield* Journal
  const call = yield* CurrentCall
  const caller = call.caller === undefined ? {} : { caller: call.caller }
  yield* journal.append({ type, request_id: call.id, step: call.step, tool: call.tool, ...caller, ...more })
})

const stateOf = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const workspace = yield* Workspace
  const state = new Map<string, string>()
  for (const path of paths) {
    state.set(path, yield* workspace.fingerprint(path).pipe(Effect.catch((error) => Effect.succeed(error.code))))
  }
  return state
})

const absentIn = ({ writes }: Facts): ApprovedState =>
  new Map(writes.filter(({ exists }) => !exists).map(({ path }) => [path, "absent"]))

const isSameState = (one: ApprovedState, other: ApprovedState): boolean =>
  [...one].every(([path, state]) => other.get(path) === state)
