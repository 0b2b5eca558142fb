import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { isToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { caseInsensitiveDisk } from "../../../test/case-insensitive-disk.ts"
import { contentsOf, inWorkspace, outcome } from "../../../test/workspaces.ts"
import { defaultStateDirectory, workspaceDirectory } from "../../state/state-directory.ts"
import { canonicalPath } from "./name-on-disk.ts"

const disk = caseInsensitiveDisk()
const base = mkdtempSync(join(tmpdir(), "haft-names-"))
afterAll(() => {
  disk?.remove()
  rmSync(base, { recursive: true, force: true })
})

let count = 0
const makeRoot = (files: Readonly<Record<string, string>>): { readonly root: string; readonly state: string } => {
  const root = join(disk?.path ?? base, `Root${++count}`)
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { root, state: join(base, `state${count}`) }
}

describe.runIf(disk !== undefined)("on a disk that ignores case (not on this platform)", () => {
  it.each(["descriptors", "paths"] as const)("paths have the names on disk, contained by %s", async (containment) => {
    const { root, state } = makeRoot({ "Secret/Key.txt": "k", ".git/config": "", "café/Zoë": "z" })
    const given = ["SECRET/key.TXT", "secret/new.txt", ".GIT/hooks/pre-commit", "CAFÉ/ZOË", "Secret/Key.txt", "other"]
    const found = await inWorkspace(root, (workspace) => Effect.forEach(given, (path) => workspace.contain(path)), {
      open: { state, containment }
    })
    expect(found).toEqual([
      "Secret/Key.txt",
      "Secret/new.txt",
      ".git/hooks/pre-commit",
      "café/Zoë",
      "Secret/Key.txt",
      "other"
    ])
  })

  it("a workspace is the same in every spelling, with one state", () => {
    const { root } = makeRoot({ "a.txt": "a" })
    const spelled = root.replace("Root", "rOOT")
    expect(workspaceDirectory(spelled)).toBe(root)
    expect(defaultStateDirectory(workspaceDirectory(spelled))).toBe(defaultStateDirectory(root))
    expect(canonicalPath(join(spelled, "A.TXT"))).toBe(join(root, "a.txt"))
  })

  it("a file is written under the name that it has", async () => {
    const { root, state } = makeRoot({ "Read.me": "old" })
    const changed = await inWorkspace(
      root,
      (workspace) =>
        Effect.gen(function* () {
          const plan = yield* workspace.plan
          yield* plan.write("README", Buffer.from("x"))
          yield* plan.write("READ.ME", Buffer.from("new"))
          return yield* plan.commit()
        }),
      { open: { state } }
    )
    expect(changed.map(({ path }) => path)).toEqual(["README", "Read.me"])
    expect(contentsOf(root)).toEqual({ "Read.me": "new", README: "x" })
  })

  it("moving a file or directory to another case of its name renames it, and undo brings it back", async () => {
    const { root, state } = makeRoot({ "a.txt": "a", "dir/b.txt": "b" })
    const open = { state }
    const moves = [
      ["a.txt", "A.TXT"],
      ["DIR", "Dir"],
      ["Dir/b.txt", "dir/B.txt"]
    ] as const
    for (const [from, to] of moves) {
      await inWorkspace(
        root,
        (workspace) =>
          Effect.gen(function* () {
            const assessedWrites = [yield* workspace.contain(from), yield* workspace.contain(to)]
            expect(assessedWrites[0]).toBe(assessedWrites[1])
            const plan = yield* workspace.plan
            yield* plan.move(from, to)
            return yield* plan.commit()
          }),
        { open, id: to, run: "r" }
      )
    }
    expect(contentsOf(root)).toEqual({ "A.TXT": "a", Dir: null, "Dir/B.txt": "b" })
    await inWorkspace(root, (workspace) => workspace.undo({ run: "r" }), { open })
    expect(contentsOf(root)).toEqual({ "a.txt": "a", dir: null, "dir/b.txt": "b" })
  })

  it("a directory can't be moved into itself in another case", async () => {
    const { root, state } = makeRoot({ "dir/a.txt": "a" })
    const moved = await inWorkspace(
      root,
      (workspace) => Effect.flatMap(workspace.plan, (plan) => outcome(plan.move("dir", "DIR/sub"))),
      { open: { state } }
    )
    expect(moved).toBe("invalid_params")
  })

  it("a plan knows one entry by all its spellings", async () => {
    const { root, state } = makeRoot({ "a.txt": "a" })
    const result = await inWorkspace(
      root,
      (workspace) =>
        Effect.gen(function* () {
          const plan = yield* workspace.plan
          yield* plan.write("a.txt", Buffer.from("changed"))
          yield* plan.remove("A.TXT")
          return yield* plan.commit()
        }),
      { open: { state } }
    )
    expect(result.map(({ path }) => path)).toEqual(["a.txt", "a.txt"])
    expect(contentsOf(root)).toEqual({})
  })

  it("a call changes no other spelling than the one that it was judged by", async () => {
    const { root, state } = makeRoot({ "a.txt": "a" })
    const error = await inWorkspace(
      root,
      (workspace) =>
        Effect.flatMap(workspace.plan, (plan) =>
          Effect.flip(Effect.andThen(plan.write("OTHER.txt", Buffer.from("x")), plan.commit()))
        ),
      { open: { state }, assessedWrites: ["a.txt"] }
    )
    expect(isToolError(error) && error.code).toBe("stale_file")
    expect(readdirSync(root)).toEqual(["a.txt"])
  })
})

it("names that differ in case only are different files where case counts", async () => {
  const root = mkdtempSync(join(realpathSync(base), "Sensitive-"))
  for (const name of ["a", "A"]) writeFileSync(join(root, name), name)
  if (readdirSync(root).length === 1) return
  const found = await inWorkspace(
    root,
    (workspace) => Effect.forEach(["a", "A", "b", "B"], (path) => workspace.contain(path)),
    { open: { state: `${root}.state` } }
  )
  expect(found).toEqual(["a", "A", "b", "B"])
  expect(readFileSync(join(canonicalPath(root), "A"), "utf8")).toBe("A")
})
