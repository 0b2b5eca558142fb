import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"

import { describe, expect, it } from "@effect/vitest"
import { Host, Processes, use } from "@haft/core"
import { agentbench, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"

import { placesOf, resultOf } from "../../../test/found.ts"
import { callIn, hostOf } from "../../../test/hosts.ts"
import { plainProcesses } from "../../../test/processes.ts"
import { standIns } from "../../../test/stand-in.ts"
import { installedRipgrep, ripgrepVersion, searchTools } from "../../index.ts"

const standIn = standIns()

describe("ripgrep", () => {
  it("takes no option from a query or a glob", async () => {
    for (const text of ["--pre=sh", "-f/etc/passwd", "--files"]) {
      const reply = await callIn(haft, { a: `${text}\n`, [`${text.replaceAll("/", "")}.x`]: text }, "search_text", {
        query: text,
        literal: true,
        include: [text.replaceAll("/", ""), "a"]
      })
      expect(placesOf(reply)).toEqual(["a:1"])
    }
  })

  it("reads no configuration and no ignore file from outside", async () => {
    const before = process.env["RIPGREP_CONFIG_PATH"]
    try {
      const reply = await callIn(
        haft,
        { a: "hit", ".ignore": "a", "sub/b": "hit" },
        "search_text",
        { query: "hit" },
        {
          prepare: ({ root }) => {
            writeFileSync(join(root, "../rc"), "--files\n")
            writeFileSync(join(root, "../.gitignore"), "*\n")
            process.env["RIPGREP_CONFIG_PATH"] = join(root, "../rc")
          }
        }
      )
      expect(placesOf(reply)).toEqual(["a:1", "sub/b:1"])
    } finally {
      if (before === undefined) delete process.env["RIPGREP_CONFIG_PATH"]
      else process.env["RIPGREP_CONFIG_PATH"] = before
    }
  })

  it("finds files that have the names of temporary commit files", async () => {
    const temporary = ".haft-0123456789abcdef-12.tmp"
    const files = { a: "hit", [`d/${temporary}`]: "hit" }
    const reply = await callIn(haft, files, "search_text", { query: "hit", include_ignored: true })
    expect(placesOf(reply)).toEqual(["a:1", `d/${temporary}:1`])
    const listed = await callIn(haft, files, "find_files", { pattern: "**" })
    expect(listed.text).toBe(`2 files\na\nd/${temporary}`)
  })

  it("leaves out temporary files of a commit, which are gone or not listed", async () => {
    const ripgrep = standIn("commit", String.raw`printf '.haft-0123456789abcdef-1.tmp\0001\n'`)
    const reply = await callIn(haft, { a: "hit" }, "search_text", { query: "hit" }, { ripgrep })
    expect(resultOf(reply)).toMatchObject({ matches: [], total_matches: 0, truncated: false })
  })

  it.each([
    [haft, "search_text", { query: "x" }, "search_unavailable"],
    [agentbench, "search", { query: "x" }, "ripgrep_unavailable"],
    [toolrouter, "grep_files", { pattern: "x" }, "search_unavailable"],
    [cliagent, "grep_search", { pattern: "x" }, "search_unavailable"],
    [filetools, "file.search", { pattern: "x" }, "ripgrep_not_found"]
  ] as const)("that can't run has $name's own code", async (dialect, tool, params, code) => {
    const notForThisMachine = standIn("no-program", "")
    writeFileSync(notForThisMachine, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0]))
    for (const [ripgrep, processes] of [
      ["/nowhere/rg", plainProcesses],
      ["/nowhere/rg", nodeProcesses],
      [notForThisMachine, nodeProcesses]
    ] as const) {
      const reply = await callIn(dialect, {}, tool, params, { ripgrep, processes })
      expect([reply.error?.code, reply.error?.message]).toEqual([
        "search_unavailable",
        expect.stringMatching(/^ripgrep can't be started: /u)
      ])
      expect(JSON.stringify(reply.wire)).toContain(`"${code}"`)
    }
  })

  it.each([
    ["exit 3", "search_failed", "ripgrep ended with exit code 3"],
    ["kill -9 $$", "search_failed", "ripgrep ended with SIGKILL"],
    [
      "echo 'memory allocation of 2147483648 bytes failed' >&2; kill -ABRT $$",
      "search_failed",
      "ripgrep ran out of memory, on a line or an ignore file of a gigabyte"
    ],
    ["echo 'rg: out of luck' >&2; exit 2", "search_failed", "ripgrep failed: out of luck"],
    [
      "echo 'rg: compiled regex exceeds size limit' >&2; exit 2",
      "invalid_pattern",
      "invalid regex pattern: compiled regex exceeds size limit"
    ]
  ])("that does `%s` makes the search fail", async (script, code, message) => {
    const reply = await callIn(haft, {}, "search_text", { query: "x" }, { ripgrep: standIn("failing", script) })
    expect([reply.error?.code, reply.error?.message]).toEqual([code, message])
  })

  /** Programs that never end, and what became of them. */
  const endless = () => {
    const seen = { started: 0, interrupted: 0 }
    const run = () => {
      seen.started++
      return Effect.never.pipe(Effect.onInterrupt(() => Effect.sync(() => seen.interrupted++)))
    }
    const mark = Effect.succeed({ name: "HAFT_CALL", value: "test" })
    return {
      seen,
      layer: Layer.succeed(Processes, {
        end: () => Effect.void,
        feed: () => 0,
        release: () => Effect.succeed([]),
        inspect: () => Effect.succeed([]),
        systemProgram: () => undefined,
        mark,
        run
      })
    }
  }

  it("ends when the call is cancelled", async () => {
    using workspace = temporaryWorkspace({ a: "x" })
    const { seen, layer } = endless()
    await Effect.runPromise(
      Effect.gen(function* () {
        const { call } = yield* Host
        const fiber = yield* Effect.forkChild(call("search_text", { query: "x" }), { startImmediately: true })
        while (seen.started === 0) yield* Effect.sleep("1 millis")
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(hostOf(haft, workspace, { processes: layer })), Effect.scoped)
    )
    expect(seen).toEqual({ started: 1, interrupted: 1 })
  })

  it.effect.each([
    [haft, "search_text", { query: "x" }, 60],
    [agentbench, "search", { query: "x" }, 60],
    [toolrouter, "grep_files", { pattern: "x" }, 60],
    [cliagent, "grep_search", { pattern: "x" }, 50],
    [filetools, "file.search", { pattern: "x" }, 60]
  ] as const)("ends when the time of %s's contract is up", ([dialect, tool, params, seconds]) =>
    Effect.gen(function* () {
      using workspace = temporaryWorkspace({ a: "x" })
      const { seen, layer } = endless()
      const reply = yield* Effect.gen(function* () {
        const { call } = yield* Host
        const fiber = yield* Effect.forkChild(call(tool, params), { startImmediately: true })
        while (seen.started === 0) yield* Effect.promise(() => setImmediate())
        yield* TestClock.adjust(Duration.seconds(seconds - 1))
        expect(seen).toEqual({ started: 1, interrupted: 0 })
        yield* TestClock.adjust("1 second")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.provide(hostOf(dialect, workspace, { processes: layer })), Effect.scoped)
      expect([reply.error?.code, seen]).toEqual(["timeout", { started: 1, interrupted: 1 }])
    })
  )
})

it.each(["rg", "./rg", "tools/rg", ""])(
  "a ripgrep called %j, which might be the workspace's own, is refused",
  (ripgrep) => {
    expect(() => use(searchTools, { ripgrep })).toThrow("ripgrep: has to be an absolute path")
  }
)

describe("a look at ripgrep", () => {
  const look = (program: string) => Effect.runPromise(ripgrepVersion(program).pipe(Effect.provide(plainProcesses)))

  it("finds the version of the one that is installed", async () => {
    expect(await look(await Effect.runPromise(installedRipgrep))).toMatch(/^\d+\.\d+\.\d+$/u)
  })

  it.each([
    ["exit 3", "ends with exit code 3"],
    ["kill -9 $$", "ends with SIGKILL"],
    ["echo something else", "is something else"]
  ])("says why one that does `%s` is of no use", async (script, problem) => {
    const program = standIn("broken", script)
    await expect(look(program)).rejects.toMatchObject({
      code: "search_unavailable",
      message: `ripgrep at ${program} ${problem}`
    })
  })

  it("says so when there is none", async () => {
    await expect(look("/nowhere/rg")).rejects.toMatchObject({
      code: "search_unavailable",
      message: expect.stringMatching(/^ripgrep at \/nowhere\/rg can't be started: /u)
    })
  })
})

describe("when time is up", () => {
  // The first pass is told that its time is over after it has given one file.
  const outOfTime = (count: string): Layer.Layer<Processes> =>
    Layer.succeed(Processes, {
      end: () => Effect.void,
      feed: () => 0,
      release: () => Effect.succeed([]),
      inspect: () => Effect.succeed([]),
      systemProgram: () => undefined,
      mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
      run: ({ args }, options = {}) =>
        Effect.sync(() => {
          const isFirst = args.includes("--count")
          options.onStdout?.(Buffer.from(isFirst ? `./a\0${count}\n./unfin` : "./a\u00001:1:0:x\n"))
          return { exitCode: isFirst ? null : 0, signal: null, timedOut: isFirst, durationMs: 1, leftRunning: 0 }
        })
    })

  it("cliagent gets what was found and the contract's warning", async () => {
    const reply = await callIn(cliagent, { a: "hit" }, "grep_search", { pattern: "hit" }, { processes: outOfTime("1") })
    expect(reply.text).toBe(
      "Warning: Search timed out after 30s, returning partial results\nFound 1 match for 'hit':\n  a:1: hit"
    )
  })

  it("a look at what is ignored says that there may be more", async () => {
    const slow = Layer.succeed(Processes, {
      end: () => Effect.void,
      feed: () => 0,
      release: () => Effect.succeed([]),
      inspect: () => Effect.succeed([]),
      systemProgram: () => undefined,
      mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
      run: ({ args }, options = {}) =>
        Effect.sync(() => {
          const timedOut = args.includes("--no-ignore")
          if (timedOut) options.onStdout?.(Buffer.from("./a\u00003\n"))
          return { exitCode: timedOut ? null : 1, signal: null, timedOut, durationMs: 1, leftRunning: 0 }
        })
    })
    const reply = await callIn(haft, { a: "hit" }, "search_text", { query: "hit" }, { processes: slow })
    expect(resultOf(reply).remarks).toEqual([
      "At least 3 matches in 1 file that .gitignore leaves out. Set include_ignored to see them."
    ])
  })

  it("haft gets what was found, marked as partial", async () => {
    const reply = await callIn(haft, { a: "hit" }, "search_text", { query: "hit" }, { processes: outOfTime("1") })
    expect(resultOf(reply).timed_out).toBe(true)
    expect(resultOf(reply).remarks).toEqual(["The search was stopped after 30 s; these are partial results."])
    expect(reply.text).toBe("1 match\na:1: hit\nThe search was stopped after 30 s; these are partial results.")
  })
})
