import { describe, expect, it } from "vitest"

import { callsOverTime, percentile, recordMetrics } from "./record-metrics.ts"

const finished = (at: number, more: object = {}): string =>
  JSON.stringify({
    type: "tool_call_finished",
    request_id: `r-${at}`,
    step: at,
    tool: "read_file",
    at: new Date(at).toISOString(),
    status: "success",
    duration_sec: 0.01,
    ...more,
    reply: { text: ',"reply":{"type":"tool_call_finished"' }
  })

/** Records in memory, and how many of their events were read. */
const recordsOf = (runs: Record<string, Array<string>>) => {
  let read = 0
  const metrics = recordMetrics((run) => {
    const lines = runs[run]
    return (
      lines && {
        total: async () => lines.length,
        read: async (after, limit) => {
          const page = lines.slice(after, after + limit)
          read += page.length
          return page
        }
      }
    )
  })
  return { metrics, read: () => read }
}

describe("the metrics of a record", () => {
  it("count the calls of all runs by tool and decision, without the time that people took", async () => {
    const { metrics } = recordsOf({
      one: [
        '{"type":"tool_call_started","tool":"read_file"}',
        finished(10, { approval: { decision: "allow", by: "policy" } }),
        finished(20, { duration_sec: 5.02, waited_sec: 5, approval: { decision: "allow", by: "person" } })
      ],
      two: [finished(30, { status: "error", duration_sec: 0.03 }), finished(40, { tool: "undo", duration_sec: 0.005 })],
      empty: []
    })
    const { buckets, tools, ...rest } = await metrics(["one", "two", "empty"])
    expect(rest).toEqual({
      runs: 2,
      calls: 4,
      failed: 1,
      p50: 10,
      p95: 30,
      decisions: [
        { decision: "allow", by: "policy", count: 1 },
        { decision: "allow", by: "person", count: 1 }
      ]
    })
    expect(tools.map(({ tool, calls, failed, p99 }) => [tool, calls, failed, Math.round(p99)])).toEqual([
      ["read_file", 3, 1, 30],
      ["undo", 1, 0, 5]
    ])
    expect(buckets.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)).toBe(4)
    expect((await metrics(["two"])).calls).toBe(2)
    expect(await metrics(["none"])).toEqual({ runs: 0, calls: 0, failed: 0, buckets: [], tools: [], decisions: [] })
  })

  it("count more events than a page has, each once, also when asked several times at once", async () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => finished(index))
    const { metrics, read } = recordsOf({ run: lines })
    const figures = await Promise.all([metrics(["run"]), metrics(["run"])])
    expect(figures.map(({ calls }) => calls)).toEqual([25_000, 25_000])
    lines.push(finished(25_001))
    expect((await metrics(["run"])).calls).toBe(25_001)
    expect(read()).toBe(25_001)
  })
})

describe("percentiles", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
  it.each([
    [0, 1],
    [50, 50],
    [95, 95],
    [99, 99],
    [100, 100]
  ])("%d %% of 1 to 100 lie within %d", (percent, expected) => {
    expect(percentile(hundred, percent)).toBe(expected)
  })
  it("of one number are that number, and of none not a number", () => {
    expect([percentile([7], 99), percentile([], 50)]).toEqual([7, Number.NaN])
  })
})

describe("calls over time", () => {
  it("are counted in equal stretches, empty ones included", () => {
    expect(callsOverTime([{ startedAt: [0, 500, 2_000], failed: [false, true, false] }], 10)).toEqual([
      { from: 0, succeeded: 1, failed: 1 },
      { from: 1000, succeeded: 0, failed: 0 },
      { from: 2000, succeeded: 1, failed: 0 }
    ])
  })
  it.each([1_000, 3_600_000, 86_400_000 * 400])("over %d ms make no more stretches than asked for", (span) => {
    const buckets = callsOverTime([{ startedAt: [17, 17 + span], failed: [false, false] }], 60)
    expect(buckets.length).toBeLessThanOrEqual(60)
    expect(buckets.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(2)
  })
})
