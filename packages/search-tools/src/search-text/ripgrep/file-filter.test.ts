import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import type { Reply } from "@haft/core"
import { cliagent, haft, toolrouter } from "@haft/dialects"
import type { TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"

import { callIn } from "../../../test/hosts.ts"

interface Found {
  readonly matches: ReadonlyArray<{ readonly path: string }>
  readonly remarks: ReadonlyArray<string>
}

const resultOf = (reply: Reply): Found => (reply.wire as { result: Found }).result
const pathsOf = (reply: Reply) => resultOf(reply).matches.map(({ path }) => path)

const tree = {
  "x.ts": "hit",
  "src/x.ts": "hit",
  "src/gen/x.ts": "hit",
  "node_modules/a.js": "hit",
  "src/node_modules/b.js": "hit"
}

describe("a glob", () => {
  it.each([
    [["[a"], "[a"],
    [["**/[a"], "**/[a"],
    [["/[a"], "/[a"],
    [["./[a"], "./[a"],
    [["src/[a"], "src/[a"],
    [["src/*", "[a"], "[a"],
    [["!src/[a"], "!src/[a"],
    [["!{a,b"], "!{a,b"],
    [["*.ts", "!./[z-a]"], "!./[z-a]"]
  ])("that is malformed, as in %j, is an error about what was written", async (include, quoted) => {
    for (const path of [".", "src"]) {
      const reply = await callIn(haft, tree, "search_text", { query: "hit", include, path })
      expect(reply.error?.code).toBe("invalid_pattern")
      expect(reply.error?.message.startsWith(`invalid glob pattern '${quoted}': `), reply.error?.message).toBe(true)
      expect(reply.error?.details?.["pattern"] ?? quoted).toBe(quoted)
    }
  })

  it.each([
    [["x.ts"], ["src/gen/x.ts", "src/x.ts", "x.ts"]],
    [["**/x.ts"], ["src/gen/x.ts", "src/x.ts", "x.ts"]],
    [["/x.ts"], ["x.ts"]],
    [["./x.ts"], ["x.ts"]],
    [["/*"], ["x.ts"]],
    [["src/*"], ["src/x.ts"]],
    [["src/**/*.ts"], ["src/gen/x.ts", "src/x.ts"]],
    [["src"], []],
    [["!node_modules"], ["src/gen/x.ts", "src/x.ts", "x.ts"]],
    [["!node_modules/"], ["src/gen/x.ts", "src/x.ts", "x.ts"]],
    [["!/node_modules"], ["src/gen/x.ts", "src/node_modules/b.js", "src/x.ts", "x.ts"]],
    [
      ["*.ts", "!gen"],
      ["src/x.ts", "x.ts"]
    ],
    [["src/gen/*.ts", "!gen"], []],
    [
      ["!src/gen/**", "!*.js"],
      ["src/x.ts", "x.ts"]
    ]
  ])("%j means what it means to ripgrep", async (include, paths) => {
    expect(pathsOf(await callIn(haft, tree, "search_text", { query: "hit", include }))).toEqual(paths)
  })

  it.each([["../*.ts"], ["../**/*.ts"], ["!../x"], ["!"], ["*.{ts"], ["!src/[a.ts"], ["src/[z-a].ts"]])(
    "%s is an error",
    async (pattern) => {
      const reply = await callIn(haft, tree, "search_text", { query: "hit", include: [pattern] })
      expect(reply.error?.code).toBe("invalid_pattern")
    }
  )

  it.each([
    ["many", Array.from({ length: 20_000 }, (_, index) => `*.x${index}`)],
    ["long", Array.from({ length: 300 }, (_, index) => `!${"x".repeat(900)}${index}`)]
  ])("is refused when there are more that are too %s for a command line", async (_what, include) => {
    const reply = await callIn(toolrouter, tree, "grep_files", { pattern: "hit", include })
    expect(reply.wire).toEqual({
      error: "invalid_pattern",
      message: expect.stringMatching(
        /^the glob patterns are too many, or too long: over \d+ bytes\. Give fewer of them, or search a directory further down\.$/u
      )
    })
  })

  it("with directories limits the files that count as searched", async () => {
    const reply = await callIn(cliagent, tree, "grep_search", { pattern: "hit", file_pattern: "src/*" })
    expect(reply.wire).toMatchObject({ metadata: { total_matches: 1, files_searched: 1 } })
  })
})

describe("a directory", () => {
  it("is searched whatever is beside it, a name that only ends in a space more too", async () => {
    const files = { ".gitignore": "*.log", "d/a": "hit", "d /b": "hit", "d*/c": "hit" }
    expect(pathsOf(await callIn(haft, files, "search_text", { query: "hit", path: "d" }))).toEqual(["d/a"])
    expect(pathsOf(await callIn(haft, files, "search_text", { query: "hit", path: "d " }))).toEqual(["d /b"])
  })

  it("whose files of a kind are all ignored has none of that kind", async () => {
    const files = { ".gitignore": "*.log", "d/a": "hit", "d/b.log": "hit" }
    const params = { query: "hit", path: "d", include: ["*.log"] }
    expect(resultOf(await callIn(haft, files, "search_text", params))).toMatchObject({
      matches: [],
      remarks: ["1 match in 1 file that .gitignore leaves out. Set include_ignored to see them."]
    })
    const router = await callIn(toolrouter, files, "grep_files", { pattern: "hit", path: "d", include: ["*.log"] })
    expect(router.wire).toEqual({ results: [] })
  })

  it("that is ignored is searched when it is asked for by name, not when a glob names it", async () => {
    const files = { ".gitignore": "out", "out/sub/a.js": "hit", b: "no" }
    const asked = { query: "hit", path: "out", include: ["sub/*.js"] }
    expect(pathsOf(await callIn(haft, files, "search_text", asked))).toEqual(["out/sub/a.js"])
    for (const include of ["out/sub/*.js", "out/**/*.js"]) {
      expect(pathsOf(await callIn(haft, files, "search_text", { query: "hit", include: [include] }))).toEqual([])
    }
  })

  it("called .git is never searched, asked for by name or not", async () => {
    const prepare = ({ root }: TemporaryWorkspace) => {
      mkdirSync(join(root, "d/.git"), { recursive: true })
      writeFileSync(join(root, "d/.git/config"), "hit")
    }
    for (const path of [".", "d", "d/.git", "d/.git/config"]) {
      const reply = await callIn(haft, {}, "search_text", { query: "hit", path, include_ignored: true }, { prepare })
      expect(resultOf(reply)).toMatchObject({ matches: [], remarks: [] })
    }
  })
})

describe("that no file fits the globs", () => {
  const files = { ".gitignore": "*.log", "src/a.ts": "hit", "b.log": "miss" }
  const remarksFor = async (params: object, options = {}) =>
    resultOf(await callIn(haft, files, "search_text", { query: "hit", ...params }, options)).remarks

  it.each([[["*.py"]], [["lib/**"]], [["src\\*.ts"]], [["/tmp/src/*.ts"]], [["!*"]], [["*.ts", "!src"]]])(
    "is said of %j",
    async (include) => {
      expect(await remarksFor({ include })).toEqual(["No file fits include."])
      expect(await remarksFor({ include, include_ignored: true })).toEqual(["No file fits include."])
    }
  )

  it.each([[["*.log"]], [["*"]], [["src/*", "*.py"]], [[]]])("is not said of %j", async (include) => {
    expect(await remarksFor({ query: "nothing", include })).toEqual([])
  })

  it("is not said where there is something that can't be read", async () => {
    const disturb = () => ({ glob: () => Effect.succeed({ paths: [], total: 0, unreadable: 1 }) })
    expect(await remarksFor({ include: ["lib/**"] }, { disturb })).toEqual(["1 file or directory could not be read."])
  })
})

it("says that ignored files would have matched when only a directory further down ignores them", async () => {
  const files = { "d/.gitignore": "secret", "d/secret": "hit" }
  expect(resultOf(await callIn(haft, files, "search_text", { query: "hit" })).remarks).toEqual([
    "1 match in 1 file that .gitignore leaves out. Set include_ignored to see them."
  ])
})

it("speaks of files whose name is not UTF-8 only where they are searched", async () => {
  const prepare = ({ root }: TemporaryWorkspace) =>
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff])]), "hit")
  const files = { ".gitignore": "*.log", "d/a": "hit" }
  const reply = await callIn(haft, files, "search_text", { query: "hit", path: "d" }, { prepare })
  expect(resultOf(reply)).toMatchObject({ matches: [{ path: "d/a" }], remarks: [] })
})
