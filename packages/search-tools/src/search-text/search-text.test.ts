import { chmodSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { Host, Processes, type Reply } from "@haft/core"
import { agentbench, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"

import { callIn, hostOf } from "../../test/hosts.ts"
import { plainProcesses } from "../../test/processes.ts"

interface Found {
  readonly matches: ReadonlyArray<{ readonly path: string; readonly line: number; readonly content: string }>
  readonly total_matches: number
  readonly truncated: boolean
  readonly timed_out: boolean
  readonly remarks: ReadonlyArray<string>
}

const resultOf = (reply: Reply): Found => (reply.wire as { result: Found }).result
const placesOf = (reply: Reply) => resultOf(reply).matches.map(({ path, line }) => `${path}:${line}`)

const scripts = temporaryWorkspace()
afterAll(() => scripts.remove())

/** A program that stands in for ripgrep where the real one can't be brought to do a thing. */
const standIn = (name: string, script: string): string => {
  const path = join(scripts.root, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

/** Does something to the workspace each time before a program starts. */
const meddling = (meddle: (run: number) => void): Layer.Layer<Processes> =>
  Layer.effect(
    Processes,
    Processes.useSync((real) => {
      let run = 0
      return { ...real, run: (command, options) => Effect.suspend(() => (meddle(++run), real.run(command, options))) }
    })
  ).pipe(Layer.provide(plainProcesses))

describe("lines", () => {
  it("of megabytes are cut around the match, in bounded memory", async () => {
    const line = `${"a".repeat(5_000_000)}needle${"b".repeat(5_000_000)}`
    const reply = await callIn(haft, { "min.js": `first\n${line}\nlast\n` }, "search_text", {
      query: "needle",
      context_lines: 1
    })
    expect(resultOf(reply).matches).toEqual([
      {
        path: "min.js",
        line: 2,
        content: `…${"a".repeat(500)}needle${"b".repeat(1494)}…`,
        context_before: ["first"],
        context_after: ["last"]
      }
    ])
  })

  it("around a match are cut at their end", async () => {
    const reply = await callIn(haft, { a: `${"x".repeat(9000)}\nhit\n` }, "search_text", {
      query: "hit",
      context_lines: 1
    })
    expect(resultOf(reply).matches).toEqual([
      { path: "a", line: 2, content: "hit", context_before: [`${"x".repeat(2000)}…`], context_after: [] }
    ])
  })

  it("count once however often they match", async () => {
    const reply = await callIn(haft, { a: "xx x\nx\n" }, "search_text", { query: "x" })
    expect(placesOf(reply)).toEqual(["a:1", "a:2"])
  })

  it("are found far down in a large file", async () => {
    const files = { big: { repeat: "line {n}\n", times: 400_000 } }
    const reply = await callIn(haft, files, "search_text", { query: "line (399999|7)$" })
    expect(placesOf(reply)).toEqual(["big:7", "big:399999"])
  })

  it("stop when the reply would hold more than eight million characters", async () => {
    const files = { big: { repeat: `${"y".repeat(2500)}\n`, times: 4000 } }
    const reply = await callIn(agentbench, files, "search", { query: "y", max_results: 4000, context_lines: 2 })
    const { data } = reply.wire as { data: { matches: Array<unknown>; truncated: boolean; total_matches: number } }
    expect([data.matches.length < 1000, data.truncated, data.total_matches]).toEqual([true, true, 4000])
  })
})

describe("files", () => {
  it("with odd names are found", async () => {
    const names = ["-dash", "new\nline", "a:1:b", "ünï", "*", "[x]", " space ", "back\\slash", "include:rust"]
    const files = Object.fromEntries(names.map((name) => [name, "hit"]))
    const reply = await callIn(haft, files, "search_text", { query: "hit" })
    expect(resultOf(reply).matches.map(({ path }) => path)).toEqual(names.toSorted())
    const one = await callIn(haft, files, "search_text", { query: "hit", include: ["include:*"] })
    expect(placesOf(one)).toEqual(["include:rust:1"])
    const alone = await callIn(haft, files, "search_text", { query: "hit", path: "a:1:b" })
    expect(placesOf(alone)).toEqual(["a:1:b:1"])
  })

  it("whose name is not UTF-8 are left out, and the reply says so", async () => {
    const reply = await callIn(
      haft,
      { a: "hit" },
      "search_text",
      { query: "hit" },
      {
        prepare: ({ root }) => writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff])]), "hit")
      }
    )
    expect(resultOf(reply)).toEqual({
      matches: [{ path: "a", line: 1, content: "hit" }],
      total_matches: 1,
      files_with_matches: 1,
      truncated: false,
      timed_out: false,
      remarks: ["1 file with matches left out: the name is not UTF-8."]
    })
    const router = await callIn(
      toolrouter,
      { a: "hit" },
      "grep_files",
      { pattern: "hit" },
      {
        prepare: ({ root }) => writeFileSync(Buffer.concat([Buffer.from(`${root}/Bad`), Buffer.from([0xff])]), "hit")
      }
    )
    expect(router.wire).toEqual({ results: [{ file: "a", matches: [{ line_num: 1, line: "hit" }] }] })
  })

  it("that turn binary late are binary all the same", async () => {
    const late = Buffer.concat([Buffer.from("hit\n"), Buffer.alloc(300_000, "x\n"), Buffer.from([0])])
    const reply = await callIn(haft, { late, text: "hit" }, "search_text", { query: "hit" })
    expect(placesOf(reply)).toEqual(["text:1"])
  })

  it("that vanish between the passes are passed over", async () => {
    using workspace = temporaryWorkspace({ gone: "hit", kept: "hit" })
    const processes = meddling((run) => run === 2 && unlinkSync(join(workspace.root, "gone")))
    const reply = await Effect.runPromise(
      Effect.scoped(
        Host.use(({ call }) => call("search_text", { query: "hit" })).pipe(
          Effect.provide(hostOf(haft, workspace, { processes }))
        )
      )
    )
    expect(placesOf(reply)).toEqual(["kept:1"])
  })

  it("that are exchanged for a link to the outside show nothing of it", async () => {
    using workspace = temporaryWorkspace({ "d/f": "hit inside", g: "hit" })
    mkdirSync(join(workspace.outside, "d"))
    writeFileSync(join(workspace.outside, "d/f"), "hit secret")
    const processes = meddling((run) => {
      if (run !== 2) return
      renameSync(join(workspace.root, "d"), join(workspace.root, "away"))
      symlinkSync(join(workspace.outside, "d"), join(workspace.root, "d"))
    })
    const reply = await Effect.runPromise(
      Effect.scoped(
        Host.use(({ call }) => call("search_text", { query: "hit" })).pipe(
          Effect.provide(hostOf(haft, workspace, { processes }))
        )
      )
    )
    expect(placesOf(reply)).toEqual(["g:1"])
    expect(resultOf(reply).remarks).toEqual(["1 file or directory could not be read."])
  })

  it("that can't be read are counted", async () => {
    const ripgrep = standIn("unreadable", 'echo "rg: ./closed: Permission denied (os error 13)" >&2; exit 2')
    const reply = await callIn(haft, {}, "search_text", { query: "hit" }, { ripgrep })
    expect(resultOf(reply).remarks).toEqual(["1 file or directory could not be read."])
  })

  it("beside the way down are not searched, however many there are", async () => {
    const beside = Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`beside${index}`, "hit"]))
    const reply = await callIn(
      haft,
      { ...beside, ".gitignore": "*.log", "d/a": "hit", "d/b.log": "hit" },
      "search_text",
      {
        query: "hit",
        path: "d"
      }
    )
    expect(placesOf(reply)).toEqual(["d/a:1"])
  })

  it("of a device or a socket's kind are no place to search", async () => {
    const reply = await callIn(
      haft,
      {},
      "search_text",
      { query: "x", path: "pipe" },
      {
        prepare: ({ root }) => symlinkSync("/dev/null", join(root, "pipe"))
      }
    )
    expect(reply.error?.code).toBe("path_outside_workspace")
  })
})

describe("a search without a total", () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`d${String(index % 20).padStart(2, "0")}/f${index}`, "hit\nhit\n"])
  )

  it("ends with the last result, in the order of whole paths", async () => {
    const reply = await callIn(filetools, many, "file.search", { pattern: "hit", max_results: 3 })
    expect(reply.wire).toEqual({
      matches: [
        { path: "d00/f0", line: 1, content: "hit" },
        { path: "d00/f0", line: 2, content: "hit" },
        { path: "d00/f100", line: 1, content: "hit" }
      ],
      truncated: true
    })
  })

  it("does so with the processes of a real host", async () => {
    const params = { pattern: "hit", max_results: 1 }
    const reply = await callIn(filetools, many, "file.search", params, { processes: nodeProcesses })
    expect(reply.wire).toEqual({ matches: [{ path: "d00/f0", line: 1, content: "hit" }], truncated: true })
  })

  it.each([
    ["d00-x", "beside the directory ripgrep saw first"],
    ["d00.x", "with a dot"]
  ])("finds %s first, %s", async (name) => {
    const reply = await callIn(filetools, { ...many, [name]: "hit" }, "file.search", { pattern: "hit", max_results: 1 })
    expect(reply.wire).toEqual({ matches: [{ path: name, line: 1, content: "hit" }], truncated: true })
  })

  it("is right where UTF-8 and UTF-16 sort differently", async () => {
    const files = { "\uFFE6": "hit", "🙂": "hit" }
    const reply = await callIn(filetools, files, "file.search", { pattern: "hit", max_results: 1 })
    expect(reply.wire).toEqual({ matches: [{ path: "🙂", line: 1, content: "hit" }], truncated: true })
  })

  it("goes parallel when the ordered pass takes long", async () => {
    const real = join(scripts.root, "slow-when-sorted")
    const reply = await callIn(
      filetools,
      { a: "hit" },
      "file.search",
      { pattern: "hit" },
      {
        prepare: () =>
          standIn(
            "slow-when-sorted",
            'for a in "$@"; do [ "$a" = --sort=path ] && exec sleep 20; done; for a in "$@"; do [ "$a" = --count ] && printf "./a\\0001\\n" && exit; done; printf "./a\\0001:1:x\\n"'
          ),
        ripgrep: real
      }
    )
    expect(reply.wire).toEqual({ matches: [{ path: "a", line: 1, content: "hit" }], truncated: false })
  })
})

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

  it.each([
    [haft, "search_text", { query: "x" }, "search_unavailable"],
    [agentbench, "search", { query: "x" }, "ripgrep_unavailable"],
    [toolrouter, "grep_files", { pattern: "x" }, "search_unavailable"],
    [cliagent, "grep_search", { pattern: "x" }, "search_unavailable"],
    [filetools, "file.search", { pattern: "x" }, "ripgrep_not_found"]
  ] as const)("that is missing has $name's own code", async (dialect, tool, params, code) => {
    const reply = await callIn(dialect, {}, tool, params, { ripgrep: "/nowhere/rg" })
    expect(reply.error?.code).toBe("search_unavailable")
    expect(JSON.stringify(reply.wire)).toContain(`"${code}"`)
  })

  it.each([
    ["exit 3", "search_failed", "ripgrep ended with exit code 3"],
    ["kill -9 $$", "search_failed", "ripgrep ended with SIGKILL"],
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

  it("ends when the call is cancelled", async () => {
    using workspace = temporaryWorkspace({ a: "x" })
    let interrupted = false
    const waiting = Layer.succeed(Processes, {
      end: () => Effect.void,
      feed: () => 0,
      mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
      run: () => Effect.never.pipe(Effect.onInterrupt(() => Effect.sync(() => (interrupted = true))))
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        const { call } = yield* Host
        const fiber = yield* Effect.forkChild(call("search_text", { query: "x" }), { startImmediately: true })
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(hostOf(haft, workspace, { processes: waiting })), Effect.scoped)
    )
    expect(interrupted).toBe(true)
  })
})

describe("when time is up", () => {
  // The first pass is told that its time is over after it has given one file.
  const outOfTime = (count: string): Layer.Layer<Processes> =>
    Layer.succeed(Processes, {
      end: () => Effect.void,
      feed: () => 0,
      mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
      run: ({ args }, options = {}) =>
        Effect.sync(() => {
          const isFirst = args.includes("--count")
          options.onStdout?.(Buffer.from(isFirst ? `./a\0${count}\n./unfin` : "./a\u00001:1:x\n"))
          return { exitCode: isFirst ? null : 0, signal: null, timedOut: isFirst, durationMs: 1, leftRunning: 0 }
        })
    })

  it("cliagent gets what was found and the contract's warning", async () => {
    const reply = await callIn(cliagent, { a: "hit" }, "grep_search", { pattern: "hit" }, { processes: outOfTime("1") })
    expect(reply.text).toBe(
      "Warning: Search timed out after 30s, returning partial results\nFound 1 match for 'hit':\n  a:1: hit"
    )
  })

  it("haft gets what was found, marked as partial", async () => {
    const reply = await callIn(haft, { a: "hit" }, "search_text", { query: "hit" }, { processes: outOfTime("1") })
    expect(resultOf(reply).timed_out).toBe(true)
    expect(resultOf(reply).remarks).toEqual(["The search was stopped after 30 s; these are partial results."])
    expect(reply.text).toBe("1 match\na:1: hit\nThe search was stopped after 30 s; these are partial results.")
  })
})

describe("text for people", () => {
  const files = { "d/a": "hit 1\nhit 2\n", "d/b": "hit 3\n" }

  it.each([
    [haft, "search_text", { query: "hit", max_results: 1 }, "3 matches, the first 1 of them:\nd/a:1: hit 1"],
    [agentbench, "search", { query: "hit 3" }, "1 matches\nd/b:1: hit 3"],
    [toolrouter, "grep_files", { pattern: "hit" }, "d/a\n  1: hit 1\n  2: hit 2\nd/b\n  1: hit 3"],
    [filetools, "file.search", { pattern: "hit 3" }, "d/b:1: hit 3"],
    [haft, "find_files", { pattern: "**" }, "2 files\nd/a\nd/b"]
  ] as const)("$name says it its way", async (dialect, tool, params, text) => {
    expect((await callIn(dialect, files, tool, params)).text).toBe(text)
  })
})

it("finds the first thousand of many files and warns", async () => {
  const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, ""]))
  const reply = await callIn(cliagent, files, "file_search", { pattern: "*" })
  expect(reply.text.split("\n").slice(0, 3)).toEqual([
    "Warning: Found 1001 matches, showing first 1000",
    "Found 1001 files matching '*':",
    "  f0"
  ])
})
