import type { RecordedCall } from "../calls/call-log.ts"

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
  readonly median: number
  readonly p95: number
  readonly p99: number
}

export interface DecisionCount {
  readonly name: string
  readonly count: number
}

/** The nearest-rank percentile of numbers in ascending order; NaN when there are none. */
export const percentile = (ascending: ReadonlyArray<number>, percent: number): number =>
  ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] ?? Number.NaN

/** Bucket sizes that are easy to read on an axis: seconds, minutes, hours. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1000
)

/** Counts the calls that ended in at most `most` buckets of equal length, from the first call to the last. */
export const callsOverTime = (calls: ReadonlyArray<RecordedCall>, most: number): ReadonlyArray<TimeBucket> => {
  const ended = calls.filter(({ status }) => status !== "running")
  if (ended.length === 0) return []
  const times = ended.map(({ startedAt }) => startedAt)
  const first = times.reduce((one, other) => Math.min(one, other))
  const last = times.reduce((one, other) => Math.max(one, other))
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
  for (const { startedAt, status } of ended) {
    const bucket = buckets[Math.floor(startedAt / step) - begin]
    if (bucket === undefined) continue
    if (status === "success") bucket.succeeded++
    else bucket.failed++
  }
  return buckets
}

/** How long the calls that ended took, shortest first, without the time they waited for a person. */
export const workingTimes = (calls: ReadonlyArray<RecordedCall>): ReadonlyArray<number> =>
  calls
    .flatMap(({ durationMs, waitedMs = 0 }) => (durationMs === undefined ? [] : [Math.max(0, durationMs - waitedMs)]))
    .toSorted((one, other) => one - other)

/** How long the calls of each tool took, the most called tool first. */
export const latencyByTool = (calls: ReadonlyArray<RecordedCall>): ReadonlyArray<ToolLatency> => {
  const byTool = Map.groupBy(
    calls.filter(({ durationMs }) => durationMs !== undefined),
    ({ tool }) => tool
  )
  return [...byTool]
    .map(([tool, ofTool]) => {
      const times = workingTimes(ofTool)
      return {
        tool,
        calls: times.length,
        failed: ofTool.filter(({ status }) => status === "error").length,
        median: percentile(times, 50),
        p95: percentile(times, 95),
        p99: percentile(times, 99)
      }
    })
    .toSorted((one, other) => other.calls - one.calls)
}

/** How many calls were allowed and denied, and by whom. */
export const countDecisions = (calls: ReadonlyArray<RecordedCall>): ReadonlyArray<DecisionCount> => {
  const counts = new Map(Object.values(decisionNames).map((name) => [name, 0]))
  for (const { approval } of calls) {
    if (approval === undefined) continue
    const { decision, by } = approval
    const name = by === "nobody" ? decisionNames.nobody : decisionNames[`${decision} by ${by}`]
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => ({ name, count }))
}

const decisionNames: Readonly<Record<"nobody" | `${"allow" | "deny"} by ${"policy" | "person"}`, string>> = {
  "allow by policy": "Allowed by policy",
  "allow by person": "Approved by a person",
  "deny by policy": "Denied by policy",
  "deny by person": "Denied by a person",
  nobody: "Timed out"
}
