import { describe, expect, it } from "vitest"

import { playSession, sessionCalls } from "./approval-session.ts"

describe("a session of 58 calls", () => {
  it("has 58 calls", () => {
    expect(sessionCalls({ docs: "", registry: "" })).toHaveLength(58)
  })

  it("raises at most 6 questions in accept-edits with remembered commands", async () => {
    const { questions, unasked, isSandboxed } = await playSession("accept-edits")
    expect(unasked).toEqual([])
    // Where no sandbox holds them, commands that only read are asked about too.
    expect(questions.length).toBeLessThanOrEqual(isSandboxed ? 6 : 12)
  }, 300_000)

  it("raises at most 4 questions in auto, apart from commands that can't be undone on this machine", async () => {
    const { questions, unasked } = await playSession("auto")
    expect(unasked).toEqual([])
    const others = questions.filter((question) => !question.includes("what the command changes can't be undone here"))
    expect(others.length).toBeLessThanOrEqual(4)
  }, 300_000)

  it("asks about every command outside a sandbox, in auto too", async () => {
    const { questions, unasked } = await playSession("auto", { sandbox: "none", remembers: false })
    expect(unasked).toEqual([])
    expect(questions.filter((question) => question.startsWith("run_command"))).toHaveLength(20)
  }, 300_000)
})
