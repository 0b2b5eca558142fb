import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"

import {
  CodeIndex,
  type CodeIndexService,
  CurrentCall,
  type Progress,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { bundleProgram } from "../../test/bundle.ts"
import { makeWorkspaces } from "../../test/workspaces.ts"
import { nodeWorkspace } from "../workspace/workspace.ts"
import { sqliteCodeIndex, type SqliteCodeIndexOptions } from "./code-index.ts"

const workspaces = makeWorkspaces("index")
const child = join(workspaces.base, "child.mjs")
beforeAll(() => bundleProgram("index-child.ts", child))
afterAll(workspaces.remove)

interface Opened {
  readonly index: CodeIndexService
  readonly workspace: WorkspaceService
  readonly put: (path: string, content: string) => void
}

const withIndex = <A>(
  root: string,
  use: (opened: Opened) => Effect.Effect<A, unknown>,
  options: Partial<SqliteCodeIndexOptions> = {}
): Promise<A> => {
  const state = `${root}.state`
  const layer = sqliteCodeIndex({ directory: state, ...options }).pipe(
    Layer.provideMerge(nodeWorkspace({ root, state }))
  )
  const opened = Effect.gen(function* () {
    const index = yield* CodeIndex
    const workspace = yield* Workspace
    return yield* use({ index, workspace, put: (path, content) => writeFileSync(join(root, path), content) })
  })
  return Effect.runPromise(Effect.scoped(opened.pipe(Effect.provide(layer))))
}

const namesIn = (index: CodeIndexService, path = ".") =>
  Effect.map(index.outline({ path, limit: 1000 }), ({ items }) => items.map(({ name }) => name))

const indexFile = (root: string): string => join(`${root}.state`, "code-index-1.sqlite")
const encode = (content: string) => new TextEncoder().encode(content)

describe("the code index follows the workspace", () => {
  it("after a commit of this host, without a look at all files", async () => {
    const root = workspaces.make({ "a.ts": "function before() {}\n", "b.ts": "function stays() {}\n" })
    const found = await withIndex(root, ({ index, workspace }) =>
      Effect.gen(function* () {
        const names = [yield* namesIn(index)]
        yield* workspace.commit([{ kind: "write", path: "a.ts", content: encode("function after() {}\n") }])
        names.push(yield* namesIn(index))
        yield* workspace.commit([{ kind: "move", from: "a.ts", to: "c.ts" }])
        names.push(
          yield* Effect.map(index.outline({ path: ".", limit: 9 }), ({ items }) => items.map((one) => one.path))
        )
        yield* workspace.undo()
        yield* workspace.commit([{ kind: "delete", path: "b.ts" }])
        names.push(yield* namesIn(index))
        return names
      })
    )
    expect(found).toEqual([["before", "stays"], ["after", "stays"], ["b.ts", "c.ts"], ["before"]])
  })

  it("leaves out what a commit writes into an ignored directory, and what a new .gitignore names", async () => {
    const root = workspaces.make({
      "a.ts": "function a() {}\n",
      "out/x.ts": "function x() {}\n",
      ".gitignore": "dist\n"
    })
    const found = await withIndex(root, ({ index, workspace }) =>
      Effect.gen(function* () {
        const names = [yield* namesIn(index)]
        const content = encode("function built() {}\n")
        yield* workspace.commit([{ kind: "write", path: "dist/b.ts", content, createDirectories: true }])
        names.push(yield* namesIn(index))
        yield* workspace.commit([{ kind: "write", path: ".gitignore", content: encode("dist\nout\n") }])
        names.push(yield* namesIn(index))
        return names
      })
    )
    expect(found).toEqual([["a", "x"], ["a", "x"], ["a"]])
  })

  it("when another program changes, adds, renames and deletes files", async () => {
    const root = workspaces.make({ "a.py": "def one(): pass\n", "d/b.py": "def two(): pass\n" })
    const names = () => withIndex(root, ({ index }) => namesIn(index))
    expect(await names()).toEqual(["one", "two"])
    writeFileSync(join(root, "a.py"), "def uno(): pass\n")
    writeFileSync(join(root, "c.py"), "def three(): pass\n")
    renameSync(join(root, "d"), join(root, "e"))
    expect(await names()).toEqual(["uno", "three", "two"])
    rmSync(join(root, "e"), { recursive: true })
    expect(await names()).toEqual(["uno", "three"])
  })

  it("when a file changes without a new size or time stamp soon after it was indexed", async () => {
    const root = workspaces.make({ "a.py": "def one(): pass\n" })
    const now = new Date()
    utimesSync(join(root, "a.py"), now, now)
    expect(await withIndex(root, ({ index }) => namesIn(index))).toEqual(["one"])
    writeFileSync(join(root, "a.py"), "def two(): pass\n")
    utimesSync(join(root, "a.py"), now, now)
    expect(await withIndex(root, ({ index }) => namesIn(index))).toEqual(["two"])
  })

  it("within one search, when a file that it would show has changed since the index was refreshed", async () => {
    const root = workspaces.make({ "a.py": "def first_name(): pass\n", "b.py": "def second_name(): pass\n" })
    const found = await withIndex(root, ({ index, put }) =>
      Effect.gen(function* () {
        yield* index.search({ query: "first name", path: ".", limit: 5 })
        put("a.py", "def other(): pass\n")
        const { items } = yield* index.search({ query: "first_name", path: ".", limit: 5 })
        return items.map(({ symbol }) => symbol?.name)
      })
    )
    expect(found).toEqual(["second_name"])
  })

  it("keeps rows whose content is the same after a touch", async () => {
    const root = workspaces.make({ "a.py": "def one(): pass\n" })
    await withIndex(root, ({ index }) => namesIn(index))
    utimesSync(join(root, "a.py"), new Date(1e12), new Date(1e12))
    expect(await withIndex(root, ({ index }) => namesIn(index))).toEqual(["one"])
  })
})

describe("a query whose words are all common", () => {
  // Each word is in more definitions than are scored one by one.
  const functionOf = (n: number): string => `function read${n}() {\n  // parse the file of a user\n}\n`
  const many = Array.from({ length: 60 }, (_, file) => [
    `m${file}.ts`,
    Array.from({ length: 100 }, (_, n) => functionOf(file * 100 + n)).join("")
  ])
  const root = workspaces.make({
    ...Object.fromEntries(many),
    "wanted.ts": "function parseUserFile() {\n  // read\n}\n",
    "rare.ts": "function frobnicate() {\n  // parse\n}\n"
  })

  it.each([
    ["all of them together, names first", "parse user file", "wanted.ts"],
    ["one rare word among them", "frobnicate parse file", "rare.ts"],
    ["a single one", "parse", "wanted.ts"],
    ["words that no definition has together", "frobnicate user", "rare.ts"]
  ])("finds %s", async (_, query, path) => {
    const found = await withIndex(root, ({ index }) => index.search({ query, path: ".", limit: 3 }))
    expect(found.items[0]?.path).toBe(path)
  })

  it("is confined to its path, where none has all of them", async () => {
    const found = await withIndex(root, ({ index }) => index.search({ query: "parse user", path: "rare.ts", limit: 3 }))
    expect(found.items.map(({ path }) => path)).toEqual(["rare.ts"])
  })
})

describe("the file of the code index", () => {
  it("is built again when it is damaged, before and after it was opened", async () => {
    const root = workspaces.make({ "a.ts": "function found() {}\n" })
    await withIndex(root, ({ index }) => namesIn(index))
    writeFileSync(indexFile(root), "this is not a database, but it is long enough to be taken for one".repeat(100))
    expect(await withIndex(root, ({ index }) => namesIn(index))).toEqual(["found"])
    const found = await withIndex(root, ({ index, put }) =>
      Effect.gen(function* () {
        yield* namesIn(index)
        put("a.ts", "function again() {}\n")
        rmSync(indexFile(root))
        rmSync(`${indexFile(root)}-wal`, { force: true })
        return yield* namesIn(index)
      })
    )
    expect(found).toEqual(["again"])
  })

  it(
    "is shared by two processes that build it at the same time, without a word on stderr",
    { timeout: 60_000 },
    async () => {
      const files = Object.fromEntries(
        Array.from({ length: 150 }, (_, n) => [`f${n}.txt`, `about subject${n} number\n`])
      )
      const root = workspaces.make({ ...files, "wanted.txt": "the needle lies here\n" })
      mkdirSync(`${root}.state`)
      const run = async () => {
        const started = spawn(process.execPath, [child, root, `${root}.state`, "needle"], {
          stdio: ["ignore", "pipe", "pipe"]
        })
        return Promise.all([text(started.stdout), text(started.stderr)])
      }
      const expected = [`{"paths":["wanted.txt"],"files":151}\n`, ""]
      expect(await Promise.all([run(), run()])).toEqual([expected, expected])
      expect(readdirSync(`${root}.state`).filter((name) => name.endsWith(".lock"))).toEqual([])
    }
  )

  it("says so when it can't be written", async () => {
    const root = workspaces.make({ "a.ts": "function a() {}\n" })
    mkdirSync(indexFile(root), { recursive: true })
    chmodSync(`${root}.state`, 0o700)
    const error = await withIndex(root, ({ index }) => Effect.flip(index.search({ query: "a b", path: ".", limit: 1 })))
    expect(error).toMatchObject({
      code: "search_failed",
      message: expect.stringContaining("the code index can't be used")
    })
  })

  it("tells what is in it, without building it", async () => {
    const root = workspaces.make({ "a.ts": "function a() {}\nfunction b() {}\n" })
    const [before, after] = await withIndex(root, ({ index }) =>
      Effect.all([index.status, Effect.andThen(namesIn(index), index.status)])
    )
    expect(before).toEqual({ files: 0, symbols: 0, bytes: expect.any(Number), hasGrammars: true })
    expect(after).toEqual({
      files: 1,
      symbols: 2,
      bytes: expect.any(Number),
      refreshedAt: expect.any(Number),
      hasGrammars: true
    })
  })
})

describe("the limits of the code index", () => {
  const many = () =>
    workspaces.make(Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`f${n}.py`, `def name${n}(): pass\n`])))

  it("answers from what is there when time is up, says so, and goes on with the next call", async () => {
    const root = many()
    const remarks = await withIndex(
      root,
      ({ index }) => Effect.map(index.outline({ path: ".", limit: 1 }), (found) => found.remarks),
      { buildTimeMs: 0 }
    )
    expect(remarks).toEqual(["The index is being built: 130 files are not in it yet. Call again for all results."])
    const { total, remarks: none } = await withIndex(root, ({ index }) => index.outline({ path: ".", limit: 1 }))
    expect({ total, none }).toEqual({ total: 130, none: [] })
  })

  it("leaves out files beyond its size, and says how many", async () => {
    const found = await withIndex(many(), ({ index }) => index.outline({ path: ".", limit: 1 }), { maxBytes: 1 })
    expect(found).toMatchObject({ total: 0, remarks: [expect.stringContaining("The index is full: 130 files")] })
  })

  it("leaves out files beyond their number, and says how many", async () => {
    const found = await withIndex(many(), ({ index }) => index.outline({ path: ".", limit: 1 }), { maxFiles: 100 })
    expect(found).toMatchObject({ total: 100, remarks: [expect.stringContaining("The index is full: 30 files")] })
  })

  it("indexes by windows of lines without grammars, and says so", async () => {
    const root = workspaces.make({ "a.ts": "function parseOrder() {}\n", "b.ts": "other\n" })
    const found = await withIndex(root, ({ index }) => index.search({ query: "parse order", path: ".", limit: 5 }), {
      grammars: false
    })
    expect(found.items.map(({ path, symbol }) => ({ path, symbol }))).toEqual([{ path: "a.ts", symbol: undefined }])
    expect(found.remarks).toEqual([expect.stringContaining("@vscode/tree-sitter-wasm is not installed")])
  })

  it("finds a file that is too large to be read by its path", async () => {
    const root = workspaces.make({ "billing.ts": `// ${"x".repeat(2 ** 20)}\nfunction hidden() {}\n` })
    const { items } = await withIndex(root, ({ index }) => index.search({ query: "billing", path: ".", limit: 5 }))
    expect(items.map(({ path }) => path)).toEqual(["billing.ts"])
  })

  it("reports progress, and keeps what it has when the call is cancelled", async () => {
    const root = many()
    const seen: Array<Progress> = []
    const files = await withIndex(root, ({ index }) =>
      Effect.gen(function* () {
        const cancelled = yield* Effect.callback<void>((resume) => {
          const call = index.outline({ path: ".", limit: 1 }).pipe(
            Effect.updateService(CurrentCall, (current) => ({
              ...current,
              onProgress: (progress: Progress) => {
                seen.push(progress)
                if (progress.done === 64) resume(Effect.void)
              }
            }))
          )
          const fiber = Effect.runFork(call)
          return Fiber.interrupt(fiber)
        }).pipe(Effect.as("cancelled"))
        expect(cancelled).toBe("cancelled")
        return (yield* index.status).files
      })
    )
    expect(seen.slice(0, 2)).toEqual([
      { message: "Indexing code", done: 0, total: 130 },
      { message: "Indexing code", done: 64, total: 130 }
    ])
    expect(files).toBeGreaterThanOrEqual(64)
    expect(
      await withIndex(root, ({ index }) => Effect.map(index.outline({ path: ".", limit: 1 }), (all) => all.total))
    ).toBe(130)
  })
})

describe("links", () => {
  it("are never followed into the index", async () => {
    const root = workspaces.make({ "a.ts": "function real() {}\n", "link.ts": "-> a.ts", out: "-> /etc" })
    expect(await withIndex(root, ({ index }) => namesIn(index))).toEqual(["real"])
  })
})
