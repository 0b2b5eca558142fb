import { describe, expect, it } from "vitest"

import { changeOf } from "../diff/call-changes.ts"
import { addressOf, parseRoute } from "../route.ts"
import { sessionsOf } from "../terminal/terminal-sessions.ts"
import type { RecordedCall } from "./call-log.ts"
import { durationText, fitsSearch, stateOf, subjectOf } from "./describe-call.ts"

const call: RecordedCall = {
  key: "run.1",
  run: "run",
  step: 1,
  seq: 1,
  requestId: "call-1",
  tool: "write_file",
  dialect: "haft",
  startedAt: 0,
  params: { path: "docs/a.md" },
  status: "running"
}
const denied = { decision: "deny", by: "person", reason: "no" } as const

describe("a call", () => {
  it("is in the state a person would name", () => {
    expect([
      stateOf(call, new Set()),
      stateOf(call, new Set(["call-1"])),
      stateOf({ ...call, status: "success" }, new Set()),
      stateOf({ ...call, status: "error" }, new Set()),
      stateOf({ ...call, status: "error", approval: denied }, new Set()),
      stateOf({ ...call, status: "error", approval: { ...denied, by: "nobody" } }, new Set())
    ]).toEqual(["running", "waiting", "done", "failed", "refused", "unanswered"])
  })

  it("is told from others by what it touches, or by its arguments until that is known", () => {
    const touches = { risk: "dangerous", runs: "npm test" } as const
    expect([subjectOf(call), subjectOf({ ...call, touches }), subjectOf({ ...call, params: "[withheld]" })]).toEqual([
      "docs/a.md",
      "npm test",
      ""
    ])
  })

  it.each([
    ["", true],
    ["WRITE docs", true],
    ["write src", false]
  ])("is found by %j: %s", (search, expected) => {
    expect(fitsSearch(call, search)).toBe(expected)
  })

  it.each([
    [undefined, ""],
    [1.23, "1.2 ms"],
    [250, "250 ms"],
    [1500, "1.5 s"],
    [90_000, "1 min 30 s"]
  ])("that took %s is said to have taken %j", (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text)
  })
})

describe("the change that arguments ask for", () => {
  it.each([
    [{ patch: "--- a\n+++ b\n" }, "--- a\n+++ b\n"],
    [{ path: "a", content: "x\ny\n" }, "--- a\n+++ a\n@@ @@\n+x\n+y\n"],
    [{ path: "a", edits: [{ find: "x", replace: "" }] }, "--- a\n+++ a\n@@ @@\n-x\n"],
    [{ filePath: "a", oldString: "x", newString: "y" }, "--- a\n+++ a\n@@ @@\n-x\n+y\n"],
    [{ path: "a" }, undefined],
    ["[withheld]", undefined]
  ])("%j", (params, diff) => {
    expect(changeOf(params)).toBe(diff)
  })
})

describe("terminals", () => {
  it("are those that are open, newest first, and those that only a recording tells of", () => {
    const reply = (id: string) => ({ ok: true, result: { terminal_id: id, recording: `terminals/${id}.cast` } })
    const opened = { ...call, tool: "open_terminal", touches: { risk: "dangerous", runs: "bash" } as const }
    const shared = { command: "cat", directory: ".", recording: null, signal: null }
    const running = { ...shared, id: "running", isRunning: true, exitCode: null, openedAt: 5 }
    const ended = { ...shared, id: "ended", isRunning: false, exitCode: 2, openedAt: 7 }
    const calls = [{ ...opened, reply: reply("gone") }, { ...opened, reply: reply("running") }, call]
    expect(sessionsOf([running, ended], calls)).toEqual([
      { id: "ended", command: "cat", openedAt: 7, isRunning: false, end: "exit code 2", hasFailed: true },
      { id: "running", command: "cat", openedAt: 5, isRunning: true },
      {
        id: "gone",
        command: "bash",
        openedAt: 0,
        isRunning: false,
        recorded: { run: "run", path: "terminals/gone.cast" }
      }
    ])
  })
})

describe("an address", () => {
  it("leads back to where it was made", () => {
    expect(parseRoute(addressOf("my work", "activity", "run.1/2"))).toEqual({
      workspace: "my work",
      screen: "activity",
      item: "run.1/2"
    })
  })
  it.each(["", "#", "#/%E0%A4%A", "#//nowhere"])("that is wrong leads to the approvals: %j", (hash) => {
    expect(parseRoute(hash).screen).toBe("approvals")
  })
})
