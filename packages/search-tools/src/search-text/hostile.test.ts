import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { Host, Processes } from "@haft/core"
import { agentbench, cliagent, filetools, haft } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"

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
  it.each(["f", "**", "**/f/"])("that ends in %s is answered", async (end) => {
    const include = ["d/".repeat(200) + end]
    const reply = await callIn(haft, { f: "x" }, "search_text", { query: "x", include })
    expect(reply.wire).toMatchObject({ result: { total_matches: 0 } })
  })
})

describe("a time limit", () => {
  /** Real programs, but with a second at most. */
  const impatient = Layer.effect(
    Processes,
    Processes.useSync((real) => ({
      ...real,
      run: (command, options) =>
        real.run(command, { ...options, timeoutMs: Math.min(options?.timeoutMs ?? 1000, 1000) })
    }))
  ).pipe(Layer.provide(nodeProcesses))
  // Every way to read the letters so far is a state of its own, and no automaton can hold them: minutes of work.
  let seed = 1
  const letter = (_: unknown, at: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return at % 4096 === 4095 ? "\n" : seed % 4096 < 2048 ? "a" : "b"
  }
  const files = {
    easy: `a${"b".repeat(300)}!`,
    hard: { repeat: Array.from({ length: 2 ** 20 }, letter).join(""), times: 32 }
  }

  it("ends ripgrep, and what was found by then is the answer", async () => {
    const params = { pattern: "a[ab]{300}[^ab]", is_regex: true }
    const reply = await callIn(cliagent, files, "grep_search", params, { processes: impatient })
    expect(reply.text).toBe(
      `Warning: Search timed out after 30s, returning partial results\nFound 1 match for 'a[ab]{300}[^ab]':\n  easy:1: ${files.easy}`
    )
  })
})

describe("files that can't be read", () => {
  it.each([
    ["rg: ./new\\nline: Permission denied (os error 13)", 1],
    ["rg: ./a\\nrg: regex parse error: Permission denied (os error 13)", 1],
    ["rg: ./gone: No such file or directory (os error 2)", 0],
    ["rg: ./broken: Input/output error (os error 5)", 1]
  ])("%s are no error of the call", async (complaint, unreadable) => {
    using workspace = temporaryWorkspace()
    const ripgrep = join(workspace.outside, "rg")
    writeFileSync(ripgrep, `#!/bin/sh\nprintf '${complaint}\\n' >&2; exit 2\n`)
    chmodSync(ripgrep, 0o755)
    const reply = await callIn(haft, {}, "search_text", { query: "hit" }, { ripgrep })
    const remarks = unreadable === 0 ? [] : ["1 file or directory could not be read."]
    expect(reply.wire).toMatchObject({ result: { remarks } })
  })

  it("are counted however many there are", async () => {
    using workspace = temporaryWorkspace()
    const ripgrep = join(workspace.outside, "rg")
    const complaints = `awk 'BEGIN { for (i = 0; i < 5000; i++) print "rg: ./closed" i ": Permission denied (os error 13)" }' >&2`
    writeFileSync(ripgrep, `#!/bin/sh\n${complaints}; exit 2\n`)
    chmodSync(ripgrep, 0o755)
    const reply = await callIn(haft, {}, "search_text", { query: "hit" }, { ripgrep })
    expect(reply.wire).toMatchObject({ result: { remarks: ["5000 files or directories could not be read."] } })
  })

  it("because of an ignore file that makes no sense are none", async () => {
    const reply = await callIn(haft, { ".gitignore": "{a\n[\n*.log", a: "hit", "b.log": "hit" }, "search_text", {
      query: "hit"
    })
    expect(reply.wire).toMatchObject({ result: { matches: [{ path: "a" }], remarks: [] } })
  })
})

describe("a reply with thousands of lines of context", () => {
  const files = { a: { repeat: `hit\n${"near\n".repeat(40)}`, times: 10_000 } }

  it("is given whole as long as it is not too long", async () => {
    const params = { query: "hit", max_results: 10_000, context_lines: 10 }
    const fewer = { a: { ...files.a, times: 300 } }
    const reply = await callIn(agentbench, fewer, "search", params)
    expect(reply.wire).toMatchObject({ data: { total_matches: 300, truncated: false } })
  })

  it("is cut where it would be too long", async () => {
    const params = { pattern: "hit", max_results: 10_000, context_lines: 100 }
    const reply = await callIn(filetools, files, "file.search", params)
    expect(reply.wire).toMatchObject({ truncated: true })
    expect(JSON.stringify(reply.wire).length).toBeLessThan(9_000_000)
  })
})

describe("the end of a line", () => {
  const files = { windows: "one\r\ntwo\r\n", unix: "one\ntwo\n" }

  it.each([
    ["one$", ["unix", "windows"]],
    ["^one$", ["unix", "windows"]],
    [String.raw`one\r$`, ["windows"]],
    [String.raw`one\r?$`, ["unix", "windows"]],
    [String.raw`o.e[\r]`, ["windows"]]
  ])("%s is found with and without a carriage return", async (query, paths) => {
    const reply = await callIn(haft, files, "search_text", { query })
    expect(reply.wire).toMatchObject({
      result: { total_matches: paths.length, matches: paths.map((path) => ({ path })) }
    })
  })
})
