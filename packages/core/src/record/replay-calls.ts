import * as Effect from "effect/Effect"

import type { HostService } from "../host.ts"
import { redact } from "../text/redact.ts"
import type { RecordedCall } from "./recorded-calls.ts"

/** One place in which two replies differ. */
export interface ReplyDifference {
  /** `data.content`, `files.0.path`; empty for the reply as a whole. */
  readonly where: string
  readonly recorded: unknown
  readonly replayed: unknown
}

export interface ReplayedCall {
  readonly call: RecordedCall
  readonly outcome: "same" | "different" | "skipped"
  readonly differences: ReadonlyArray<ReplyDifference>
  /** Why it was not run again. */
  readonly whySkipped?: string
}

export interface ReplayOptions {
  /** One for each dialect that can be spoken. They work on a copy of the workspace, and approve by themselves. */
  readonly hosts: ReadonlyArray<Pick<HostService, "call" | "dialect">>
  /** Why a call should not be made again, beyond what the record says. */
  readonly obstacle?: (call: RecordedCall) => string | undefined
  /** Makes what a reply says about the copy what it would have said about the workspace. */
  readonly translate?: (json: string) => string
}

/**
 * Makes recorded calls again, one after the other, and compares the replies. The record has no secrets, so calls that
 * had some can't be made again.
 */
export const replayCalls = (
  calls: ReadonlyArray<RecordedCall>,
  { hosts, obstacle = () => undefined, translate = (json) => json }: ReplayOptions
): Effect.Effect<ReadonlyArray<ReplayedCall>> =>
  Effect.forEach(
    calls,
    Effect.fnUntraced(function* (call): Effect.fn.Return<ReplayedCall> {
      const host = hosts.find(({ dialect }) => dialect.name === call.dialect)
      const whySkipped = obstacleTo(call) ?? obstacle(call)
      if (whySkipped !== undefined) return { call, outcome: "skipped", differences: [], whySkipped }
      if (host === undefined) {
        return { call, outcome: "skipped", differences: [], whySkipped: `it was made in the dialect ${call.dialect}` }
      }
      const reply = yield* host.call(call.tool, call.editedParams ?? call.params, { requestId: call.requestId })
      const replayed = JSON.parse(translate(JSON.stringify(redact(reply.wire) ?? null))) as unknown
      const differences = differencesOf(call.reply, replayed, [])
      return { call, outcome: differences.length === 0 ? "same" : "different", differences }
    })
  )

const obstacleTo = (call: RecordedCall): string | undefined => {
  if (call.isRedacted) return "secrets in its arguments are not on record"
  if (call.approval?.decision === "deny") return "it was not approved"
  return call.status === "aborted" ? "it has no end on record" : undefined
}

// Times differ from run to run; they say nothing about what a call did.
const varying = /(?:_at|_ms|_sec|[a-z]At|[a-z]Ms)$|^(?:modified|duration|timestamp)$/

const differencesOf = (
  recorded: unknown,
  replayed: unknown,
  path: ReadonlyArray<string>
): ReadonlyArray<ReplyDifference> => {
  if (isRecord(recorded) && isRecord(replayed) && Array.isArray(recorded) === Array.isArray(replayed)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(replayed)])
    return [...keys]
      .filter((key) => !varying.test(key))
      .flatMap((key) => differencesOf(recorded[key], replayed[key], [...path, key]))
  }
  return Object.is(recorded, replayed) ? [] : [{ where: path.join("."), recorded, replayed }]
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
