import { describe, expect, it } from "vitest"

import type { RecordedCall } from "../calls/call-log.ts"
import { callsOverTime, countDecisions, latencyByTool, percentile, workingTimes } from "./metrics.ts"

const call = (startedAt: number, more: Partial<RecordedCall> = {}): RecordedCall => ({
  key: String(startedAt),
  run: "run",
  step: startedAt,
  seq: startedAt,
  requestId: String(startedAt),
  tool: "read_file",
  dialect: "haft",
  startedAt,
  params: {},
  status: "success",
  durationMs: startedAt,
  ...more
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
  it("are counted in equal stretches, empty ones included, without those that still run", () => {
    const calls = [call(0), call(500, { status: "error" }), call(2_000), call(2_001, { status: "running" })]
    expect(callsOverTime(calls, 10)).toEqual([
      { from: 0, succeeded: 1, failed: 1 },
      { from: 1000, succeeded: 0, failed: 0 },
      { from: 2000, succeeded: 1, failed: 0 }
    ])
  })
  it.each([1_000, 3_600_000, 86_400_000 * 400])("over %d ms make no more stretches than asked for", (span) => {
    const buckets = callsOverTime([call(17), call(17 + span)], 60)
    expect(buckets.length).toBeLessThanOrEqual(60)
    expect(buckets.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(2)
  })
  it("are nothing when there are none", () => {
    expect(callsOverTime([], 60)).toEqual([])
  })
})

it("latency is told by tool, the busiest first", () => {
  const calls = [call(10), call(20), call(30, { status: "error" }), call(5, { tool: "undo" })]
  expect(latencyByTool(calls)).toEqual([
    { tool: "read_file", calls: 3, failed: 1, median: 20, p95: 30, p99: 30 },
    { tool: "undo", calls: 1, failed: 0, median: 5, p95: 5, p99: 5 }
  ])
})

it("the time that a person took to answer is not the tool's", () => {
  expect(workingTimes([call(5_010, { waitedMs: 5_000 }), call(3), call(2, { waitedMs: 2.5 })])).toEqual([0, 3, 10])
})

it("decisions are counted by who made them", () => {
  const decided = (decision: "allow" | "deny", by: "policy" | "person" | "nobody") =>
    call(1, { approval: { decision, by, reason: "" } })
  expect(
    countDecisions([
      call(1),
      decided("allow", "policy"),
      decided("allow", "policy"),
      decided("deny", "person"),
      decided("deny", "nobody")
    ])
  ).toEqual([
    { name: "Allowed by policy", count: 2 },
    { name: "Approved by a person", count: 0 },
    { name: "Denied by policy", count: 0 },
    { name: "Denied by a person", count: 1 },
    { name: "Timed out", count: 1 }
  ])
})
