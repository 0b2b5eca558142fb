import { visibleText } from "@haft/core/visible-text"

import { isObject } from "../is-object.ts"
import type { ClosedRequest, OpenRequest, Touches } from "../wire.ts"
import type { CommandEffects, RecordedCall } from "./call-log.ts"

export type CallState = "waiting" | "running" | "done" | "failed" | "refused" | "unanswered"

export const stateNames: Readonly<Record<CallState, string>> = {
  waiting: "Pending",
  running: "Running",
  done: "Succeeded",
  failed: "Failed",
  refused: "Denied",
  unanswered: "Timed out"
}

/** The state of a call as the console shows it. `waiting` has the ids of the calls with an open request. */
export const stateOf = (call: RecordedCall, waiting: ReadonlySet<string>): CallState => {
  if (call.status === "success") return "done"
  if (call.status === "error") {
    if (call.approval?.decision !== "deny") return "failed"
    return call.approval.by === "nobody" ? "unanswered" : "refused"
  }
  return waiting.has(call.requestId) ? "waiting" : "running"
}

/** Summary that distinguishes a call from others of its tool in a list: its command, path or address. */
export const subjectOf = (call: RecordedCall): string => {
  const { touches } = call
  const known = touches?.runs ?? touches?.writes?.map(({ path }) => path).join(", ") ?? touches?.fetches
  if (known !== undefined) return visibleText(known)
  const fields = isObject(call.params) ? call.params : {}
  const told = ["command", "path", "url", "pattern", "query", "from", "terminal_id", "call"].map((name) => fields[name])
  const text = told.find((value) => typeof value === "string")
  return visibleText(text ?? touches?.reads?.join(", ") ?? "")
}

/** Summary that distinguishes a pending request from others of its tool. */
export const requestSubject = ({ description }: OpenRequest): string => {
  const { command, url, types, filesAffected, parameters } = description
  return command ?? url ?? types ?? (filesAffected.join(", ") || parameters.map(({ value }) => value).join(" "))
}

/** How a request ended that is not open any more: "timed out", "approved by alice". */
export const endText = ({ expiresAt = Infinity }: OpenRequest, closed: ClosedRequest | undefined): string => {
  if (closed === undefined) return "not pending any more"
  const { approved, unanswered, reason, by, at } = closed
  if (unanswered !== true) return `${approved ? "approved" : "denied"} by ${by?.name ?? "a person"}`
  if (at >= expiresAt) return "timed out"
  return reason === callerGone ? "the caller canceled the call or disconnected" : (reason ?? "nobody answered")
}

const callerGone = "nobody waits for the answer any more"

/** Key of a request's call in a log, and in addresses. */
export const requestKey = ({ run, step }: Pick<OpenRequest, "run" | "step">): string => `${run}.${step}`

/** Touches of a call as text. Empty kinds are left out. */
export const touchFacts = (
  touches: Touches | undefined
): ReadonlyArray<{ readonly name: string; readonly value: string }> => {
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["reads", touches?.reads?.join(", ")],
    ["writes", touches?.writes?.map(({ path, exists }) => (exists ? path : `${path} (new)`)).join(", ")],
    ["runs", touches?.runs],
    ["network", touches?.network === true ? "it may use it" : undefined],
    ["fetches", touches?.fetches],
    ["types into", touches?.types]
  ]
  return facts.flatMap(([name, value = ""]) => (value === "" ? [] : [{ name, value }]))
}

/** Outcome of a command's changes as text. */
export const effectFacts = (
  effects: CommandEffects | undefined
): ReadonlyArray<{ readonly name: string; readonly value: string }> => {
  if (effects === undefined) return []
  const { outcome, created, modified, deleted, undoable, left_out: leftOut = [] } = effects
  const counts = `${outcome}: ${created} created, ${modified} modified, ${deleted} deleted`
  const left = leftOut.map(({ path, reason }) => `${visibleText(path)} (${reason})`).join(", ")
  return [
    { name: "changes", value: undoable === false ? `${counts}; can't be undone` : counts },
    ...(left === "" ? [] : [{ name: "not committed", value: left }])
  ]
}

/** Tests whether all words of a search occur in a call, ignoring case. */
export const fitsSearch = (call: RecordedCall, search: string): boolean => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const text = [call.tool, call.requestId, call.error, subjectOf(call), ...(call.touches?.reads ?? [])]
    .join("\n")
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

export const durationText = (milliseconds: number | undefined): string => {
  if (milliseconds === undefined) return ""
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`
}

export const callsText = (count: number): string => (count === 1 ? "1 call" : `${count.toLocaleString()} calls`)

export const timeText = (at: number): string => new Date(at).toLocaleTimeString([], { hour12: false })
