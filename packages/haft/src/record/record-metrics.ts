import { setImmediate as otherWork } from "node:timers/promises"

import type { JournalPages } from "@haft/node/internal"

/** Figures of a run, or of the whole record. */
export interface RecordMetrics {
  readonly runs: number
  /** Calls that ended. */
  readonly calls: number
  readonly failed: number
  /** Durations in milliseconds, without the time that calls waited for a person; absent without calls. */
  readonly p50?: number
  readonly p95?: number
  /** Calls over time, in stretches of equal length. */
  readonly buckets: ReadonlyArray<TimeBucket>
  /** Durations by tool, the most called tool first. */
  readonly tools: ReadonlyArray<ToolLatency>
  readonly decisions: ReadonlyArray<DecisionCount>
}

export interface TimeBucket {
  /** Milliseconds since the epoch, where the bucket begins. */
  readonly from: number
  readonly succeeded: number
  readonly failed: number
}

export interface ToolLatency {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface DecisionCount {
  readonly decision: string
  readonly by: string
  readonly count: number
}

/** Figures of the calls of one run, in columns: a call takes a few numbers, however large its reply was. */
interface RunFigures {
  /** Events that were read. */
  after: number
  readonly tools: Array<string>
  readonly startedAt: Array<number>
  readonly durationMs: Array<number>
  readonly failed: Array<boolean>
  /** Counts by `decision by`. */
  readonly decisions: Map<string, number>
}

const mostBuckets = 60

/** Reads figures from records. Each event is read once, so asking again costs what is new. */
export const recordMetrics = (recordOf: (run: string) => JournalPages | undefined) => {
  const known = new Map<string, { readonly figures: RunFigures; reading: Promise<void> }>()
  const figuresOf = async (run: string): Promise<RunFigures> => {
    const pages = recordOf(run)
    const entry = known.get(run) ?? { figures: noFigures(), reading: Promise.resolve() }
    known.set(run, entry)
    // One reader at a time: two would count the same events.
    entry.reading = entry.reading.then(() => (pages === undefined ? undefined : readNew(pages, entry.figures)))
    await entry.reading
    return entry.figures
  }
  return async (runs: ReadonlyArray<string>): Promise<RecordMetrics> => {
    const all: Array<RunFigures> = []
    for (const run of runs) all.push(await figuresOf(run))
    return summaryOf(all)
  }
}

const noFigures = (): RunFigures => ({
  after: 0,
  tools: [],
  startedAt: [],
  durationMs: [],
  failed: [],
  decisions: new Map()
})

const readNew = async (pages: JournalPages, figures: RunFigures): Promise<void> => {
  for (;;) {
    const lines = await pages.read(figures.after, 1_000)
    if (lines.length === 0) return
    for (const line of lines) take(line, figures)
    figures.after += lines.length
    await otherWork()
  }
}

interface FinishedEvent {
  readonly tool: string
  readonly at: string
  readonly status: string
  readonly duration_sec?: number
  readonly waited_sec?: number
  readonly approval?: { readonly decision: string; readonly by: string }
}

const take = (line: string, figures: RunFigures): void => {
  if (!line.startsWith('{"type":"tool_call_finished"')) return
  const { tool, at, status, duration_sec = 0, waited_sec = 0, approval } = withoutReply(line)
  figures.tools.push(tool)
  figures.startedAt.push(Date.parse(at) - duration_sec * 1_000)
  figures.durationMs.push(Math.max(0, duration_sec - waited_sec) * 1_000)
  figures.failed.push(status !== "success")
  if (approval === undefined) return
  const key = `${approval.decision} ${approval.by}`
  figures.decisions.set(key, (figures.decisions.get(key) ?? 0) + 1)
}

// A reply may have megabytes. Inside a string its name would have a backslash, so the first one is the field.
const withoutReply = (line: string): FinishedEvent => {
  const end = line.indexOf(',"reply":')
  return JSON.parse(end === -1 ? line : `${line.slice(0, end)}}`) as FinishedEvent
}

const summaryOf = (all: ReadonlyArray<RunFigures>): RecordMetrics => {
  const byTool = new Map<string, { readonly times: Array<number>; failed: number }>()
  const decisions = new Map<string, number>()
  for (const { tools, durationMs, failed, decisions: own } of all) {
    for (const [index, tool] of tools.entries()) {
      const entry = byTool.get(tool) ?? { times: [], failed: 0 }
      byTool.set(tool, entry)
      entry.times.push(durationMs[index] ?? 0)
      if (failed[index] === true) entry.failed++
    }
    for (const [key, count] of own) decisions.set(key, (decisions.get(key) ?? 0) + count)
  }
  const times = ascending(all.flatMap(({ durationMs }) => durationMs))
  return {
    runs: all.filter(({ tools }) => tools.length > 0).length,
    calls: times.length,
    failed: [...byTool.values()].reduce((sum, { failed }) => sum + failed, 0),
    ...(times.length > 0 && { p50: percentile(times, 50), p95: percentile(times, 95) }),
    buckets: callsOverTime(all, mostBuckets),
    tools: [...byTool]
      .map(([tool, { times: own, failed }]) => latencyOf(tool, ascending(own), failed))
      .toSorted((one, other) => other.calls - one.calls),
    decisions: [...decisions].map(([key, count]) => {
      const [decision = "", by = ""] = key.split(" ")
      return { decision, by, count }
    })
  }
}

const latencyOf = (tool: string, times: ReadonlyArray<number>, failed: number): ToolLatency => ({
  tool,
  calls: times.length,
  failed,
  p50: percentile(times, 50),
  p95: percentile(times, 95),
  p99: percentile(times, 99)
})

const ascending = (numbers: ReadonlyArray<number>): ReadonlyArray<number> =>
  numbers.toSorted((one, other) => one - other)

/** The nearest-rank percentile of numbers in ascending order. */
export const percentile = (numbers: ReadonlyArray<number>, percent: number): number =>
  numbers[Math.max(0, Math.ceil((percent / 100) * numbers.length) - 1)] ?? Number.NaN

/** Bucket sizes that are easy to read on an axis: seconds, minutes, hours. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1000
)

/** Counts calls in at most `most` buckets of equal length, from the first call to the last. */
export const callsOverTime = (
  all: ReadonlyArray<Pick<RunFigures, "startedAt" | "failed">>,
  most: number
): ReadonlyArray<TimeBucket> => {
  const starts = all.flatMap(({ startedAt }) => startedAt)
  if (starts.length === 0) return []
  const first = starts.reduce((one, other) => Math.min(one, other))
  const last = starts.reduce((one, other) => Math.max(one, other))
  const day = 86_400_000
  const step =
    steps.find((size) => Math.floor(last / size) - Math.floor(first / size) < most) ??
    Math.ceil((last - first) / (most - 1) / day) * day
  const begin = Math.floor(first / step)
  const buckets = Array.from({ length: Math.floor(last / step) - begin + 1 }, (_, index) => ({
    from: (begin + index) * step,
    succeeded: 0,
    failed: 0
  }))
  for (const { startedAt, failed } of all) {
    for (const [index, at] of startedAt.entries()) {
      const bucket = buckets[Math.floor(at / step) - begin]
      if (bucket !== undefined) bucket[failed[index] === true ? "failed" : "succeeded"]++
    }
  }
  return buckets
}
