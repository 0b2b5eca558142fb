import * as Effect from "effect/Effect"

import { redactText } from "../text/redact.ts"
import { toolError } from "../tool-error.ts"
import type { WrittenPath } from "../touches.ts"
import { askPerson, decisionOf, judge, record } from "./approve.ts"
import { CurrentCall } from "./call.ts"

/** Actual changes of a command on an overlay, before they are committed. */
export interface Effects {
  readonly writes: ReadonlyArray<WrittenPath>
  /** How many files were deleted, without build output. */
  readonly removedFiles: number
  /** Why a person is asked even where no rule and no protected path says so. */
  readonly because?: string
  /** The changes as a person sees them, made only where somebody is asked. */
  readonly preview: Effect.Effect<string>
}

/**
 * Judges what a call that was approved before really changed. Rules about written paths and protected paths hold for that
 * as for the files that a tool names beforehand; one question lists all. Fails with `approval_denied`.
 */
export const approveEffects = Effect.fnUntraced(function* ({ writes, removedFiles, because, preview }: Effects) {
  const call = yield* CurrentCall
  const { approval } = call
  if (approval === undefined) return
  const { input, defaults, operation, watcher, facts: first } = approval
  const facts = {
    reads: [],
    writes,
    removedFiles,
    risk: writes.some(({ isProtected }) => isProtected) ? ("dangerous" as const) : ("safe_write" as const)
  }
  watcher.assessed({ ...first, writes: writes.slice(0, mostRecorded) })
  const { id, step, tool, dialect, startedAt, caller } = call
  const asks = because !== undefined
  const request = {
    call: { id, step, tool, operation, dialect, startedAt, ...(caller !== undefined && { caller }) },
    input,
    facts,
    defaults,
    asks,
    isEffects: true
  } as const
  const { decision, reason, rule, basis } = yield* judge(request, watcher)
  if (decision === "allow") return
  const diff = yield* preview
  const grounds = { ...(rule !== undefined && { rule }), ...(basis !== undefined && { basis }) }
  const question = { ...request, reason: because ?? reason, ...grounds, state: new Map(), preview: diff }
  const answer = yield* askPerson(question, watcher)
  yield* record(decisionOf(answer, question), { diff: redactText(diff) })
  yield* answer.modifiedArgs === undefined ? Effect.void : ranAlready
})

const ranAlready = toolError("approval_denied", "the call was not approved: it has run already, with other arguments", {
  suggestion: "Repeat the call with the arguments that the person wants.",
  details: { by: "person" }
})

/** The audit log names so many paths of one call. */
const mostRecorded = 1000
