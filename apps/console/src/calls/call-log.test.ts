import { describe, expect, it } from "vitest"

import type { JournalEvent } from "../wire.ts"
import { applyEvents, emptyLog, logOf } from "./call-log.ts"

const started = (step: number, more: object = {}): JournalEvent => ({
  type: "tool_call_started",
  seq: step * 2,
  at: new Date(step * 1000).toISOString(),
  step,
  request_id: `call-${step}`,
  tool: "write_file",
  dialect: "haft",
  params: { path: "a.txt" },
  ...more
})
const finished = (step: number, more: object = {}): JournalEvent => ({
  type: "tool_call_finished",
  seq: step * 2 + 1,
  at: new Date(step * 1000 + 5).toISOString(),
  step,
  request_id: `call-${step}`,
  tool: "write_file",
  status: "success",
  duration_sec: 0.005,
  touches: { risk: "safe_write", writes: [{ path: "a.txt", exists: false }] },
  approval: { decision: "allow", by: "person", reason: "approved" },
  reply: { ok: true },
  ...more
})
const ended = {
  key: "run.1",
  run: "run",
  step: 1,
  seq: 2,
  requestId: "call-1",
  tool: "write_file",
  dialect: "haft",
  startedAt: 1000,
  params: { path: "a.txt" },
  status: "success",
  durationMs: 5,
  touches: { risk: "safe_write", writes: [{ path: "a.txt", exists: false }] },
  approval: { decision: "allow", by: "person", reason: "approved" },
  reply: { ok: true }
}

describe("the log of calls", () => {
  it("makes one call of its beginning and its end", () => {
    expect(logOf("run", [started(1), finished(1)]).calls).toEqual([ended])
  })

  it("is the same whichever event comes first, and however often", () => {
    expect(logOf("run", [finished(1), started(1), finished(1), started(1)]).calls).toEqual([ended])
  })

  it("has the outcome of a command's changes", () => {
    const effects = { outcome: "committed", created: 1, modified: 0, deleted: 0, diff_path: "artifact:r/diffs/1.patch" }
    const event = { ...started(1), type: "command_effects", seq: 3, ...effects }
    expect(logOf("run", [started(1), event, finished(1)]).calls).toEqual([
      { ...ended, effects: expect.objectContaining(effects) }
    ])
  })

  it("keeps calls of different runs apart", () => {
    const log = applyEvents(logOf("one", [started(1)]), "two", [started(1)])
    expect(log.calls.map(({ key }) => key)).toEqual(["one.1", "two.1"])
  })

  it("puts what arrives late into its place", () => {
    const log = applyEvents(logOf("run", [started(3), started(2)]), "run", [started(1)])
    expect(log.calls.map(({ step }) => step)).toEqual([1, 2, 3])
  })

  it("knows a refusal before the call has ended", () => {
    const decided = { ...started(1), type: "approval_decided", decision: "deny", by: "person", reason: "no" }
    const [call] = logOf("run", [started(1), decided]).calls
    expect([call?.status, call?.approval?.decision]).toEqual(["running", "deny"])
  })

  it("leaves out events that are not about a call, and those it does not know", () => {
    const other = { type: "run_started", seq: 1, at: new Date(0).toISOString() }
    expect(logOf("run", [other, { ...other, type: "sandbox_chosen", step: 9 }])).toEqual(emptyLog)
  })

  it("forgets the oldest calls beyond its limit", () => {
    const many = Array.from({ length: 20_010 }, (_, index) => started(index + 1))
    const log = logOf("run", many)
    expect([log.calls.length, log.byKey.size, log.calls[0]?.step]).toEqual([20_000, 20_000, 11])
  })
})
