import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import {
  Approver,
  defineDialect,
  definePlugin,
  defineTool,
  type Facts,
  Host,
  memoryJournal,
  use,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { nodeWorkspace } from "../index.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: () => false,
  success: ({ output }) => output,
  failure: ({ errorName }) => ({ error: errorName }),
  envelope: (output) => output
})

const commit = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  yield* workspace.commit([{ kind: "write", path, content: new TextEncoder().encode("new"), createDirectories: true }])
  return {}
})

// Changes in a workspace between the moment a call was judged and the moment it changes something.
const save = (meanwhile: () => void) =>
  defineTool({
    name: "save",
    description: "Writes a file.",
    input: z.strictObject({ path: z.string() }),
    output: z.object({}),
    risk: "safe_write",
    asks: ({ writes }) => writes.some(({ exists }) => exists),
    touches: ({ path }) => ({ writes: [path] }),
    execute: ({ path }) => Effect.andThen(Effect.sync(meanwhile), commit(path))
  })

const remove = defineTool({
  name: "remove",
  description: "Removes a link or a file.",
  input: z.strictObject({ path: z.string() }),
  output: z.object({}),
  risk: "safe_write",
  touches: ({ path }) => ({ removes: [path] }),
  execute: Effect.fnUntraced(function* ({ path }) {
    const workspace = yield* Workspace
    yield* workspace.commit([{ kind: "delete", path }])
    return {}
  })
})

const withHost = (
  meanwhile: (root: string) => void,
  use_: (context: {
    readonly call: (tool: string, path: string) => Effect.Effect<unknown>
    readonly root: string
    readonly judged: ReadonlyArray<Facts["writes"]>
  }) => Effect.Effect<void>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "haft-assessed-"))),
    (directory) => {
      const root = join(directory, "workspace")
      mkdirSync(join(root, "src"), { recursive: true })
      mkdirSync(join(root, ".git/hooks"), { recursive: true })
      const judged: Array<Facts["writes"]> = []
      const approver = Layer.succeed(Approver, {
        judge: ({ facts }) => {
          judged.push(facts.writes)
          return Effect.succeed({ decision: "allow", reason: "fine" })
        },
        ask: () => Effect.succeed({ approved: true })
      })
      const services = Layer.mergeAll(
        nodeWorkspace({ root, state: join(directory, "state") }),
        memoryJournal(),
        approver
      )
      const plugin = definePlugin({ name: "p", version: "1.0.0", tools: [save(() => meanwhile(root)), remove] })
      const host = Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(Layer.provide(services))
      return Host.use(({ call }) =>
        use_({
          call: (tool, path) => Effect.map(call(tool, { path }), ({ wire }) => wire),
          root,
          judged
        })
      ).pipe(Effect.provide(host))
    },
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

describe("what was judged is what is changed", () => {
  it.live("a directory that became a link leads to no other file", () =>
    withHost(
      (root) => {
        renameSync(join(root, "src"), join(root, "old"))
        symlinkSync(".git/hooks", join(root, "src"))
      },
      ({ call, root, judged }) =>
        Effect.gen(function* () {
          expect(yield* call("save", "src/pre-commit")).toEqual({ error: "stale_file" })
          expect(judged).toEqual([[{ path: "src/pre-commit", exists: false, isProtected: false }]])
          expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false)
        })
    )
  )

  it.live("a file that was not there when the contract did not ask is not overwritten", () =>
    withHost(
      (root) => writeFileSync(join(root, "src/a.txt"), "theirs"),
      ({ call, root }) =>
        Effect.gen(function* () {
          expect(yield* call("save", "src/a.txt")).toEqual({ error: "stale_file" })
          expect(readFileSync(join(root, "src/a.txt"), "utf8")).toBe("theirs")
        })
    )
  )

  it.live("a file with directories that are made on the way is written, also through a link that was there", () =>
    withHost(
      () => undefined,
      ({ call, root }) =>
        Effect.gen(function* () {
          symlinkSync("src", join(root, "link"))
          expect(yield* call("save", "link/b/c/d.txt")).toEqual({})
          expect(readFileSync(join(root, "src/b/c/d.txt"), "utf8")).toBe("new")
        })
    )
  )

  it.live("a link that goes is judged by its own name", () =>
    withHost(
      () => undefined,
      ({ call, root, judged }) =>
        Effect.gen(function* () {
          writeFileSync(join(root, "src/a.txt"), "kept")
          symlinkSync("src/a.txt", join(root, ".envrc"))
          expect(yield* call("remove", ".envrc")).toEqual({})
          expect(judged).toEqual([[{ path: ".envrc", exists: true, isProtected: true }]])
          expect([existsSync(join(root, ".envrc")), existsSync(join(root, "src/a.txt"))]).toEqual([false, true])
        })
    )
  )
})
