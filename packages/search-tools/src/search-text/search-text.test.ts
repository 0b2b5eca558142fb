import { execFileSync } from "node:child_process"
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { Host, Processes, toolError } from "@haft/core"
import { agentbench, filetools, haft, toolrouter } from "@haft/dialects"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { placesOf, resultOf } from "../../test/found.ts"
import { callIn, hostOf } from "../../test/hosts.ts"
import { plainProcesses } from "../../test/processes.ts"
import { standIns } from "../../test/stand-in.ts"

const standIn = standIns()

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

  it("count once, however many matches they have", async () => {
    const reply = await callIn(haft, { a: "xx x\nx\n" }, "search_text", { query: "x" })
    expect(placesOf(reply)).toEqual(["a:1", "a:2"])
  })

  it.each([
    ["as it is", (text: string) => Buffer.from(text)],
    ["with a byte order mark", (text: string) => Buffer.from(`\uFEFF${text}`)],
    ["in UTF-16", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["in UTF-16, the large end first", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
    ["with CR LF", (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"))]
  ])("of a file %s come with those around them, wherever they are", async (_how, encoded) => {
    const lines = Array.from({ length: 3000 }, (_, index) => (index % 500 < 2 ? `hit é ${index}` : `line ü ${index}`))
    const reply = await callIn(
      haft,
      {},
      "search_text",
      { query: "hit", context_lines: 2 },
      { prepare: ({ root }) => writeFileSync(join(root, "a"), encoded(lines.join("\n"))) }
    )
    expect(resultOf(reply).matches).toEqual(
      lines.flatMap((content, index) =>
        content.startsWith("hit")
          ? [
              {
                path: "a",
                line: index + 1,
                content,
                context_before: lines.slice(Math.max(0, index - 2), index),
                context_after: lines.slice(index + 1, index + 3)
              }
            ]
          : []
      )
    )
  })

  it("of a file that grew between the passes are shown where they are now", async () => {
    const text = `${"x\n".repeat(10)}hit\nafter\n`
    using workspace = temporaryWorkspace({ a: text })
    const grow = meddling((run) => {
      if (run === 2) writeFileSync(join(workspace.root, "a"), `more\n${text}`)
    })
    const located = Host.use(({ call }) => call("search_text", { query: "hit", context_lines: 1 }))
    const reply = await Effect.runPromise(
      Effect.scoped(located.pipe(Effect.provide(hostOf(haft, workspace, { processes: grow }))))
    )
    expect(resultOf(reply).matches).toEqual([
      { path: "a", line: 12, content: "hit", context_before: ["x"], context_after: ["after"] }
    ])
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

  it("with a NUL byte late in their content count as binary", async () => {
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

  it.each(["d", "d/f"])("are an error when %s is all that was asked for", async (path) => {
    const ripgrep = standIn("closed", 'echo "rg: ./d: Permission denied (os error 13)" >&2; exit 2')
    const closed = () => toolError("permission_denied", "no")
    const disturb = () => ({ list: closed, scan: closed })
    const reply = await callIn(haft, { "d/f": "hit" }, "search_text", { query: "hit", path }, { ripgrep, disturb })
    expect(reply.error?.code).toBe("permission_denied")
  })

  it("that could not be read are reported for a glob, with and without matches", async () => {
    for (const paths of [[], ["d/f"]]) {
      const reply = await callIn(
        haft,
        { "d/f": "hit" },
        "search_text",
        { query: "hit", include: ["d/**"] },
        {
          disturb: () => ({ glob: () => Effect.succeed({ paths, total: paths.length, unreadable: 2, timedOut: true }) })
        }
      )
      expect(placesOf(reply)).toEqual(paths.map((path) => `${path}:1`))
      expect(resultOf(reply).timed_out).toBe(true)
      expect(resultOf(reply).remarks).toEqual([
        "The search was stopped after 30 s; these are partial results.",
        "2 files or directories could not be read."
      ])
    }
  })

  it.each(["\r", "e\n", "e\t", "e\u00A0", "e\u0085", "e\u2003", "e ", "*", "[!e]", "{e", "e\\"])(
    "beside the way down are not searched, and hide nothing, when one is called %j",
    async (name) => {
      const files = { ".gitignore": "*.log", "d/e/a": "hit", "d/e/b.log": "hit", [`d/${name}/f`]: "hit" }
      const reply = await callIn(haft, files, "search_text", { query: "hit", path: "d/e" })
      expect(placesOf(reply)).toEqual(["d/e/a:1"])
    }
  )

  it.each([
    ["whose files are all ignored shows none of them", "*.log", []],
    ["that is ignored itself is searched", "logs", ["logs/a.log:1", "logs/d/b.log:1"]],
    ["that is below an ignored one is searched", "/logs/", ["logs/d/b.log:1"]]
  ])("of a directory %s", async (_what, rules, places) => {
    const files = { ".gitignore": rules, "logs/a.log": "hit", "logs/d/b.log": "hit", "c.txt": "hit" }
    const path = places.length === 1 ? "logs/d" : "logs"
    const reply = await callIn(haft, files, "search_text", { query: "hit", path })
    expect(placesOf(reply)).toEqual(places)
    const first = await callIn(filetools, files, "file.search", { pattern: "hit", path })
    expect(first.wire).toMatchObject({ matches: places.map((place) => ({ path: place.replace(/:1$/u, "") })) })
  })

  it.each([
    ["however many there are", 2100, "beside"],
    ["however long their names are", 300, "[".repeat(240)]
  ])("beside the way down are not searched, %s", async (_what, length, name) => {
    const beside = Object.fromEntries(Array.from({ length }, (_, index) => [`${name}${index}`, "hit"]))
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

  it.runIf(process.platform !== "win32")(
    "of a pipe's kind are no place to search, and are passed over on the way (not on this platform)",
    async () => {
      const prepare = ({ root }: TemporaryWorkspace) => void execFileSync("mkfifo", [join(root, "pipe")])
      const asked = await callIn(haft, {}, "search_text", { query: "x", path: "pipe" }, { prepare })
      expect([asked.error?.code, asked.error?.message]).toEqual([
        "not_a_directory",
        "pipe is neither a directory nor a regular file"
      ])
      const all = await callIn(haft, { a: "hit" }, "search_text", { query: "hit" }, { prepare })
      expect(placesOf(all)).toEqual(["a:1"])
    }
  )

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

describe("files with lines that ripgrep's memory does not hold", () => {
  const script = [
    'for a in "$@"; do [ "$a" = --max-filesize=256M ] && printf "./a\\0001\\n" && exit; done',
    'for a in "$@"; do [ "$a" = --max-columns=1 ] && printf "./a\\0001:1:0:x\\n" && exit; done',
    "echo 'memory allocation of 2147483648 bytes failed' >&2; kill -ABRT $$"
  ].join("\n")

  it("are left out, and the reply says so", async () => {
    const ripgrep = standIn("out-of-memory", script)
    const reply = await callIn(haft, { a: "hit", b: "" }, "search_text", { query: "hit" }, { ripgrep })
    expect(placesOf(reply)).toEqual(["a:1"])
    expect(resultOf(reply).remarks).toEqual(["Files over 256 MiB left out: ripgrep ran out of memory on one."])
    const first = await callIn(filetools, { a: "hit" }, "file.search", { pattern: "hit" }, { ripgrep })
    expect(first.wire).toEqual({ matches: [{ path: "a", line: 1, content: "hit" }], truncated: false })
  })

  it("are an error when one of them is all that was asked for", async () => {
    const ripgrep = standIn("out-of-memory", script)
    const reply = await callIn(haft, { b: "hit" }, "search_text", { query: "hit", path: "b" }, { ripgrep })
    expect(reply.error?.message).toBe("ripgrep ran out of memory, on a line or an ignore file of a gigabyte")
  })
})

it("is answered when only the look at what is ignored fails", async () => {
  const ripgrep = standIn("failing-at-hints", 'for a in "$@"; do [ "$a" = --no-ignore ] && exit 3; done; exit 1')
  const reply = await callIn(haft, {}, "search_text", { query: "hit" }, { ripgrep })
  expect(resultOf(reply)).toMatchObject({ total_matches: 0, remarks: [] })
})

describe("text for people", () => {
  const files = { "d/a": "hit 1\nhit 2\n", "d/b": "hit 3\n" }

  it.each([
    [haft, "search_text", { query: "hit", max_results: 1 }, "3 matches, the first 1 of them:\nd/a:1: hit 1"],
    [agentbench, "search", { query: "hit 3" }, "1 match\nd/b:1: hit 3"],
    [agentbench, "search", { query: "hit 2" }, "1 match\nd/a-1- hit 1\nd/a:2: hit 2"],
    [
      haft,
      "search_text",
      { query: "hit", context_lines: 1 },
      "3 matches\nd/a:1: hit 1\nd/a:2: hit 2\n--\nd/b:1: hit 3"
    ],
    [toolrouter, "grep_files", { pattern: "nothing" }, "No matches"],
    [filetools, "file.search", { pattern: "nothing" }, "No matches"],
    [filetools, "file.search", { pattern: "hit", max_results: 1 }, "d/a:1: hit 1\nMore matches are left out."],
    [filetools, "file.search", { pattern: "hit 2", context_lines: 1 }, "d/a:2:\n    hit 1\n--> hit 2"],
    [toolrouter, "grep_files", { pattern: "hit" }, "d/a\n  1: hit 1\n  2: hit 2\nd/b\n  1: hit 3"],
    [filetools, "file.search", { pattern: "hit 3" }, "d/b:1: hit 3"],
    [haft, "find_files", { pattern: "**" }, "2 files\nd/a\nd/b"]
  ] as const)("$name says it its way", async (dialect, tool, params, text) => {
    expect((await callIn(dialect, files, tool, params)).text).toBe(text)
  })

  it("has each line around matches once", async () => {
    const lines = ["one", "two", "hit 3", "four", "hit 5", "six", "seven", "eight", "hit 9"].join("\n")
    const params = { query: "hit", context_lines: 1 }
    expect((await callIn(haft, { a: lines }, "search_text", params)).text.split("\n")).toEqual([
      "3 matches",
      "a-2- two",
      "a:3: hit 3",
      "a-4- four",
      "a:5: hit 5",
      "a-6- six",
      "--",
      "a-8- eight",
      "a:9: hit 9"
    ])
  })
})
