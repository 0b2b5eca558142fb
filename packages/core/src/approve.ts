import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

import { type ApprovedState, CurrentCall } from "./call.ts"
import type { Dialect } from "./dialect.ts"
import { paramsForRecord } from "./params-for-record.ts"
import { plainData, prepareWith } from "./plain-data.ts"
import { type ApprovalRequest, Approver } from "./services/approver.ts"
import { Journal, type JournalEvent } from "./services/journal.ts"
import { type ContainError, Workspace, type WorkspaceService } from "./services/workspace.ts"
import { toolError } from "./tool-error.ts"
import type { PreparedCall, Tool } from "./tool.ts"
import { type Facts, isProtectedPath, type Risk, type WrittenPath } from "./touches.ts"

/** How often a question is asked again because a file changed under it. */
const maximumRounds = 3

/** How a call was decided, for the record. */
export interface Decision {
  readonly decision: "allow" | "deny"
  /** `nobody` where a person was asked and none answered. */
  readonly by: "policy" | "person" | "nobody"
  readonly reason: string
  readonly rule?: string
}

/** Told what is known of a call as soon as it is, because a call may end at any moment. */
export interface ApprovalWatcher {
  readonly assessed: (facts: Facts) => void
  readonly decided: (decision: Decision & { readonly asks: boolean }) => void
  /** How long a question was open, in milliseconds. A call may ask more than once. */
  readonly waited: (milliseconds: number) => void
}

export interface ApprovedCall<R> {
  readonly prepared: PreparedCall<R>
  readonly facts: Facts
  /** The state of the touched files that the decision holds for; absent where it does not depend on it. */
  readonly state?: ApprovedState
}

/** What a call is about to touch: every path contained, every target looked at, the risk settled. */
export const assess = Effect.fnUntraced(function* <R>(tool: Tool<R>, prepared: PreparedCall<R>) {
  const touches = yield* prepared.touches
  const workspace = yield* Workspace
  const reads: Array<string> = []
  for (const path of touches.reads ?? []) reads.push(yield* workspace.contain(path))
  const writes: Array<Facts["writes"][number]> = []
  const seen = new Set<string>()
  const add = ({ path, exists }: Target): void => {
    if (seen.has(path)) return
    seen.add(path)
    writes.push({ path, exists, isProtected: isProtectedPath(path) })
  }
  for (const given of touches.writes ?? []) add(yield* targetOf(workspace, given, { follow: true }))
  for (const given of touches.removes ?? []) add(yield* removedTarget(workspace, given))
  const { runs, network, fetches, types } = touches
  const facts: Facts = {
    reads,
    writes,
    ...(runs !== undefined && { runs }),
    ...(network === true && { network }),
    ...(fetches !== undefined && { fetches }),
    ...(types !== undefined && { types }),
    risk: writes.some(({ isProtected }) => isProtected) ? "dangerous" : tool.risk
  }
  return facts
})

type Target = Pick<WrittenPath, "path" | "exists">

/** Where a path leads, and whether something is there. Without `follow` a link counts as itself, wherever it leads. */
const targetOf = (
  workspace: WorkspaceService,
  given: string,
  { follow }: { readonly follow: boolean }
): Effect.Effect<Target, ContainError> =>
  workspace.info(given, { follow }).pipe(
    Effect.map(({ path }) => ({ path, exists: true })),
    // Missing, or there without permission to look. A path that leads outside fails here too.
    Effect.catch(({ code }) =>
      Effect.map(workspace.contain(given), (path) => ({ path, exists: code !== "file_not_found" }))
    )
  )

/** The same for a path that is removed itself. Where links are denied they are not removed either, so they are refused. */
const removedTarget = Effect.fnUntraced(function* (
  workspace: WorkspaceService,
  given: string
): Effect.fn.Return<Target, ContainError> {
  const { symlinks } = yield* CurrentCall
  if (symlinks === "deny") yield* workspace.contain(given)
  return yield* targetOf(workspace, given, { follow: false })
})

/** Gets consent for a call, or fails with `approval_denied`. What is approved is what runs. */
export const approve = Effect.fnUntraced(function* <R>(
  dialect: Dialect,
  tool: Tool<R>,
  first: PreparedCall<R>,
  watcher: ApprovalWatcher
) {
  const approver = yield* Approver
  const call = yield* CurrentCall
  const { id, step, startedAt } = call
  let prepared = first
  let consented: Risk | undefined
  for (let round = 0; round < maximumRounds; round++) {
    const facts = yield* assess(tool, prepared)
    watcher.assessed(facts)
    const wish = yield* prepared.asks(facts)
    const asks = wish ?? dialect.asks(facts.risk)
    const request: ApprovalRequest = {
      call: { id, step, tool: tool.name, dialect: dialect.name, startedAt },
      input: prepared.input,
      facts,
      asks
    }
    const verdict = yield* approver.judge(request)
    const { decision, reason } = verdict
    const byPolicy = { by: "policy", reason, ...(verdict.rule !== undefined && { rule: verdict.rule }), asks } as const
    if (decision === "deny") {
      watcher.decided({ decision, ...byPolicy })
      return yield* denied("policy", reason)
    }
    if (decision === "allow") {
      if (consented === undefined) watcher.decided({ decision, ...byPolicy })
      // Nobody was asked because the tool looked and saw, say, that nothing would be overwritten. That has to hold until
      // the write: what is absent now must still be absent then.
      return { prepared, facts, ...(wish === false && { state: absentIn(facts) }) } satisfies ApprovedCall<R>
    }

    const state = yield* stateOf(facts)
    // The person's own arguments need no second question, unless they do more harm than those that were shown.
    if (consented !== undefined && harm[facts.risk] <= harm[consented]) {
      return { prepared, facts, state } satisfies ApprovedCall<R>
    }
    const preview = prepared.preview === undefined ? undefined : yield* prepared.preview
    yield* append({ type: "approval_requested", reason })
    const answer = yield* approver.ask({ ...request, reason, state, ...(preview !== undefined && { preview }) }).pipe(
      Effect.onInterrupt(() => unanswered(asks, watcher)),
      timed(watcher.waited)
    )
    if (!answer.approved || answer.unanswered === true) {
      const by = answer.unanswered === true ? "nobody" : "person"
      const refusal = answer.reason ?? (by === "nobody" ? "nobody answered" : "the request was refused")
      watcher.decided({ decision: "deny", by, reason: refusal, asks })
      return yield* denied(by, refusal)
    }
    const consent = { decision: "allow", reason: answer.reason ?? "approved" } as const
    watcher.decided({ ...consent, by: "person", asks })
    const edited = answer.modifiedArgs === undefined ? undefined : plainData(answer.modifiedArgs)
    yield* record(
      { ...consent, by: "person" },
      edited === undefined ? {} : { params: yield* paramsForRecord(tool, edited.data) }
    )
    if (edited !== undefined) {
      // Edited arguments are decoded, assessed and judged like those of the caller.
      prepared = yield* prepareWith(tool, edited)
      consented = facts.risk
      continue
    }
    if (isSameState(state, yield* stateOf(facts))) return { prepared, facts, state } satisfies ApprovedCall<R>
  }
  return yield* toolError("stale_file", "the files kept changing while approval was asked for; nothing was run", {
    suggestion: "Read the files again, then repeat the call.",
    retryable: true
  })
})

const harm: Readonly<Record<Risk, number>> = { read_only: 0, safe_write: 1, dangerous: 2 }

const denied = Effect.fnUntraced(function* (by: Decision["by"], reason: string) {
  yield* record({ decision: "deny", by, reason })
  return yield* toolError("approval_denied", `the call was not approved: ${reason}`, {
    suggestion:
      by === "nobody"
        ? "Nobody has said no: repeat the call when somebody is there, or do something that needs no approval."
        : "Do something that needs no approval, or ask the person to allow it.",
    details: { by }
  })
})

// A call that is cancelled while its question is open was not approved: that goes on record as a no of nobody's.
const unanswered = (asks: boolean, watcher: ApprovalWatcher) =>
  Effect.suspend(() => {
    const decision = { decision: "deny", by: "nobody", reason: "the call ended before anybody answered" } as const
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

const record = (decision: Decision, edited: { readonly params?: unknown } = {}) =>
  append({ type: "approval_decided", ...decision, ...edited })

const append = Effect.fnUntraced(function* ({ type, ...more }: JournalEvent) {
  const journal = yield* Journal
  const call = yield* CurrentCall
  yield* journal.append({ type, request_id: call.id, step: call.step, tool: call.tool, ...more })
})

const stateOf = Effect.fnUntraced(function* (facts: Facts) {
  const workspace = yield* Workspace
  const state = new Map<string, string>()
  for (const path of [...facts.reads, ...facts.writes.map((written) => written.path)]) {
    state.set(path, yield* workspace.fingerprint(path).pipe(Effect.catch((error) => Effect.succeed(error.code))))
  }
  return state
})

const absentIn = ({ writes }: Facts): ApprovedState =>
  new Map(writes.filter(({ exists }) => !exists).map(({ path }) => [path, "absent"]))

const isSameState = (one: ApprovedState, other: ApprovedState): boolean =>
  [...one].every(([path, state]) => other.get(path) === state)
