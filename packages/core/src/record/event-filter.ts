import type { JournalEvent } from "../services/journal.ts"

/** Which events to see. What is absent does not matter. */
export interface EventFilter {
  readonly tool?: string
  /** A call's id. */
  readonly request?: string
  readonly type?: string
  /** Ends of calls only, by how they ended. */
  readonly status?: "success" | "error"
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** Anywhere in the event, without regard to case. */
  readonly text?: string
}

/** A test for one event, so that a record can be followed while it grows. */
export const eventFilter =
  (filter: EventFilter) =>
  (event: JournalEvent): boolean => {
    const at = timeOf(event)
    return (
      (filter.tool === undefined || event["tool"] === filter.tool) &&
      (filter.request === undefined || event["request_id"] === filter.request) &&
      (filter.type === undefined || event.type === filter.type) &&
      (filter.status === undefined || event["status"] === filter.status) &&
      (filter.since === undefined || (at !== undefined && at >= filter.since)) &&
      (filter.until === undefined || (at !== undefined && at <= filter.until)) &&
      (filter.text === undefined || JSON.stringify(event).toLowerCase().includes(filter.text.toLowerCase()))
    )
  }

/** When an event happened, in milliseconds since the epoch: a number in memory, an ISO text in a file. */
export const timeOf = ({ at }: JournalEvent): number | undefined => {
  const time = typeof at === "string" ? Date.parse(at) : at
  return typeof time === "number" && Number.isFinite(time) ? time : undefined
}
