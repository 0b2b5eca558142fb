import type { JournalPages } from "@haft/node/internal"

/** A summary page ends here, whatever is asked for, but has one event at least. */
const pageCharacters = 256 << 10

const longestText = 200
const mostEntries = 20

/** Events of a record, each without what is large, as JSON. */
export interface SummaryPage {
  readonly events: ReadonlyArray<string>
  /** Number of the last event on the page. */
  readonly after: number
}

/** A page of summaries: replies and diffs are left out, long texts clipped. Each event keeps its number, to be read in full. */
export const summaryPage = async (pages: JournalPages, after: number, limit: number): Promise<SummaryPage> => {
  const events: Array<string> = []
  let characters = 0
  let last = after
  while (events.length < limit && characters < pageCharacters) {
    const lines = await pages.read(last, Math.min(1_000, limit - events.length))
    if (lines.length === 0) break
    for (const line of lines) {
      const event = eventSummary(line)
      events.push(event)
      characters += event.length
    }
    last += lines.length
  }
  return { events, after: last }
}

/** A line of the record without what is large. */
export const eventSummary = (line: string): string => {
  const event = parsed(line)
  if (event === undefined) return "{}"
  const { reply, diff, params, ...rest } = event
  const terminal = terminalIn(reply)
  return JSON.stringify({
    ...(clipped(rest) as object),
    ...(params !== undefined && { params: clipped(params) }),
    ...(typeof diff === "string" && { has_diff: true }),
    ...(terminal !== undefined && { reply: { result: terminal } })
  })
}

/** The terminal that a call opened, and its recording. */
const terminalIn = (reply: unknown): object | undefined => {
  const result = isObject(reply) ? reply["result"] : undefined
  if (!isObject(result) || typeof result["terminal_id"] !== "string") return undefined
  const { terminal_id, recording } = result
  return { terminal_id, ...(typeof recording === "string" && { recording }) }
}

/** A value with long texts and long lists cut short. */
const clipped = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return value.length > longestText ? `${value.slice(0, longestText)}…` : value
  if (Array.isArray(value))
    return depth > 4 ? [] : value.slice(0, mostEntries).map((inner) => clipped(inner, depth + 1))
  if (!isObject(value)) return value
  if (depth > 4) return {}
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 2 * mostEntries)
      .map(([key, inner]) => [key, clipped(inner, depth + 1)])
  )
}

const parsed = (line: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
