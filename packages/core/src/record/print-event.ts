import type { JournalEvent } from "../services/journal.ts"
import { visibleText } from "../text/visible-text.ts"
import { timeOf } from "./event-filter.ts"

const longestDetail = 160

/** One line for people: when, which call, what. Nothing in it can disturb a terminal. */
export const printEvent = (event: JournalEvent): string => {
  const at = timeOf(event)
  const time = at === undefined ? "-".repeat(23) : new Date(at).toISOString().slice(0, -1).replace("T", " ")
  const step = typeof event["step"] === "number" ? `#${event["step"]}`.padStart(5) : "     "
  const tool = typeof event["tool"] === "string" ? `${visibleText(event["tool"])} ` : ""
  return `${time} ${step} ${tool}${detailOf(event)}`
}

const detailOf = (event: JournalEvent): string => {
  if (event.type === "tool_call_started") return `called with ${short(event["params"])}`
  if (event.type === "tool_call_finished") return endOf(event)
  if (event.type === "approval_requested") return `asks a person: ${short(event["reason"])}`
  if (event.type === "approval_decided") {
    if (event["by"] === "nobody") return `unanswered: ${short(event["reason"])}`
    const by = nameIn(event["person"]) ?? short(event["by"])
    return `${event["decision"] === "allow" ? "approved" : "refused"} by ${by}: ${short(event["reason"])}`
  }
  if (event.type === "mode_changed") {
    const by = nameIn(event["person"])
    return `mode changed from ${short(event["from"])} to ${short(event["to"])}${by === undefined ? "" : ` by ${by}`}`
  }
  const { type, at: _at, step: _step, tool: _tool, seq: _seq, prev: _prev, hash: _hash, ...rest } = event
  return Object.keys(rest).length === 0 ? visibleText(type) : `${visibleText(type)} ${short(rest)}`
}

const endOf = (event: JournalEvent): string => {
  const seconds = event["duration_sec"]
  const waited = event["waited_sec"]
  const asked = typeof waited === "number" ? `, ${Math.round(waited * 1000)} of them waiting for an answer` : ""
  const took = typeof seconds === "number" ? ` in ${Math.round(seconds * 1000)} ms${asked}` : ""
  if (event["aborted"] === true) return "never ended: the host died"
  const why = reasonIn(event["approval"])
  return event["status"] === "success" ? `succeeded${took}${why}` : `failed with ${short(event["error"])}${took}${why}`
}

/** Why a call ran without a question; how others were decided stands in a line of its own. */
const reasonIn = (approval: unknown): string => {
  if (typeof approval !== "object" || approval === null) return ""
  const { by, decision, reason }: { by?: unknown; decision?: unknown; reason?: unknown } = approval
  return by === "policy" && decision === "allow" && reason !== undefined ? ` (${short(reason)})` : ""
}

const nameIn = (party: unknown): string | undefined =>
  typeof party === "object" && party !== null && "name" in party ? short(party.name) : undefined

const short = (value: unknown): string => {
  const text = visibleText(typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"))
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text
}
