import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { Host } from "@haft/core"
import { haft } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { callIn, hostOf } from "../../test/hosts.ts"

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("a call that is cancelled", () => {
  it("ends its ripgrep, too, before it is over", async () => {
    using workspace = temporaryWorkspace({ a: "x" })
    const pidFile = join(workspace.outside, "pid")
    const ripgrep = join(workspace.outside, "rg")
    writeFileSync(ripgrep, `#!/bin/sh\necho $$ > ${pidFile}.tmp\nmv ${pidFile}.tmp ${pidFile}\nexec sleep 600\n`)
    chmodSync(ripgrep, 0o755)
    await Effect.runPromise(
      Effect.gen(function* () {
        const { call } = yield* Host
        const fiber = yield* Effect.forkChild(call("search_text", { query: "x" }), { startImmediately: true })
        while (!existsSync(pidFile)) yield* Effect.sleep("5 millis")
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(hostOf(haft, workspace, { processes: nodeProcesses, ripgrep })), Effect.scoped)
    )
    expect(isRunning(Number(readFileSync(pidFile, "utf8")))).toBe(false)
  })
})

describe("an expression that takes others hours", () => {
  const line = `${"a".repeat(100_000)}\n`

  it.each(["(a+)+$b", "(a|aa)+b", "(a*)*(a*)*b"])("%s is answered", async (query) => {
    const reply = await callIn(haft, { f: line }, "search_text", { query }, { processes: nodeProcesses })
    expect(reply.wire).toMatchObject({ result: { total_matches: 0, timed_out: false } })
  })

  it("or too much memory is refused", async () => {
    const reply = await callIn(haft, { f: line }, "search_text", { query: String.raw`((\w{500}){500}){500}` })
    expect(reply.error?.code).toBe("invalid_pattern")
  })
})

describe("a glob of hundreds of directories", () => {
  it.each(["d/".repeat(200) + "f", "d/".repeat(200) + "**", `${"d/".repeat(200)}**/f/`])(
    "%.8s… is answered",
    async (glob) => {
      const reply = await callIn(haft, { f: "x" }, "search_text", { query: "x", include: [glob] })
      expect(reply.wire).toMatchObject({ result: { total_matches: 0 } })
    }
  )
})
