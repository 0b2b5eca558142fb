import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import type { WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { inWorkspace, makeWorkspaces, openIn, outcome } from "../../../test/workspaces.ts"
import { closeRoot, openRoot, withPlace } from "./containment.ts"
import { techniques } from "./handles.ts"

const workspaces = makeWorkspaces("lately-held")
afterAll(workspaces.remove)

const makeDeep = (): string => workspaces.make({ "a/b/c/f.txt": "old", "a/b/c/g.txt": "g" })

/** Reads a file a moment after one beside it was read. */
const readAfter = (root: string, change: () => void): Promise<string> =>
  inWorkspace(root, (workspace) =>
    Effect.gen(function* () {
      expect(yield* textOf(workspace, "a/b/c/g.txt")).toBe("g")
      change()
      return yield* textOf(workspace, "a/b/c/f.txt")
    })
  )

const textOf = (workspace: WorkspaceService, path: string) =>
  outcome(Effect.map(workspace.read(path), (content) => Buffer.from(content).toString()))

describe("a directory that was walked to a moment ago", () => {
  it("leads to its files, also to those that came since", async () => {
    const root = makeDeep()
    expect(await readAfter(root, () => {})).toBe("old")
    expect(await readAfter(root, () => writeFileSync(join(root, "a/b/c/f.txt"), "newer"))).toBe("newer")
  })

  it.each(["a", "a/b", "a/b/c"])("is not used once another one stands at %s", async (path) => {
    const root = makeDeep()
    const replace = () => {
      renameSync(join(root, path), join(root, "aside"))
      mkdirSync(join(root, "a/b/c"), { recursive: true })
      writeFileSync(join(root, "a/b/c/f.txt"), "of the other one")
    }
    expect(await readAfter(root, replace)).toBe("of the other one")
  })

  it.each(["a", "a/b", "a/b/c"])("is not used once %s is a link that leads out", async (path) => {
    const root = makeDeep()
    const moveOut = () => {
      renameSync(join(root, path), `${root}.outside`)
      symlinkSync(`${root}.outside`, join(root, path))
    }
    expect(await readAfter(root, moveOut)).toBe("path_outside_workspace")
  })

  it("is not used once it was removed, or has become a file", async () => {
    const root = makeDeep()
    expect(await readAfter(root, () => rmSync(join(root, "a/b/c"), { recursive: true }))).toBe("file_not_found")
    mkdirSync(join(root, "a/b/c"))
    writeFileSync(join(root, "a/b/c/g.txt"), "g")
    const becomeFile = () => {
      rmSync(join(root, "a/b"), { recursive: true })
      writeFileSync(join(root, "a/b"), "")
    }
    expect(await readAfter(root, becomeFile)).toBe("file_not_found")
  })

  it("is found anew after a commit has moved it", async () => {
    const root = makeDeep()
    const texts = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        yield* textOf(workspace, "a/b/c/f.txt")
        yield* workspace.commit([{ kind: "move", from: "a/b", to: "moved" }])
        return [yield* textOf(workspace, "a/b/c/f.txt"), yield* textOf(workspace, "moved/c/f.txt")]
      })
    )
    expect(texts).toEqual(["file_not_found", "old"])
  })

  it("leads to its files where the whole path is longer than the system tells", async () => {
    const root = workspaces.make({})
    const deep = Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(254, "d")).join("/")
    const texts = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        for (const name of ["f.txt", "g.txt"]) {
          const content = Buffer.from(name)
          yield* workspace.commit([{ kind: "write", path: `${deep}/${name}`, content, createDirectories: true }])
        }
        return [yield* textOf(workspace, `${deep}/f.txt`), yield* textOf(workspace, `${deep}/g.txt`)]
      })
    )
    expect(texts).toEqual(["f.txt", "g.txt"])
    await inWorkspace(root, (workspace) =>
      workspace.commit([{ kind: "delete", path: "0".padEnd(254, "d"), recursive: true }])
    )
  })

  it.runIf(process.platform === "linux")(
    "is not taken for another one whose name only looks the same (not on this platform)",
    async () => {
      const root = workspaces.make({ "\u{FFFD}/g.txt": "g", "\u{FFFD}/f.txt": "old" })
      const texts = await inWorkspace(root, (workspace) =>
        Effect.gen(function* () {
          yield* textOf(workspace, "\u{FFFD}/g.txt")
          renameSync(join(root, "\u{FFFD}"), Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]))
          const moved = yield* textOf(workspace, "\u{FFFD}/f.txt")
          mkdirSync(join(root, "x (deleted)"))
          writeFileSync(join(root, "x (deleted)/g.txt"), "g")
          yield* textOf(workspace, "x (deleted)/g.txt")
          renameSync(join(root, "x (deleted)"), join(root, "x"))
          rmSync(join(root, "x"), { recursive: true })
          mkdirSync(join(root, "x (deleted)"))
          writeFileSync(join(root, "x (deleted)/f.txt"), "new")
          return [moved, yield* textOf(workspace, "x (deleted)/f.txt")]
        })
      )
      expect(texts).toEqual(["file_not_found", "new"])
    }
  )

  it("still leads to its files when the workspace itself is moved", async () => {
    const root = makeDeep()
    expect(await readAfter(root, () => renameSync(root, `${root}.moved`))).toBe("old")
  })

  it.runIf(process.platform === "linux")(
    "is let go of after a second, or with the workspace; fifty are not held at once (not on this platform)",
    async () => {
      const files = Array.from({ length: 50 }, (_, index) => `d${index}/f.txt`)
      const root = workspaces.make(Object.fromEntries(files.map((file) => [file, "x"])))
      const readAll = (workspace: WorkspaceService) => Effect.forEach(files, (file) => textOf(workspace, file))
      await inWorkspace(root, (workspace) =>
        Effect.gen(function* () {
          yield* readAll(workspace)
          expect(openIn(root)).toBe(32)
          yield* Effect.promise(async () => {
            await expect.poll(() => openIn(root)).toBe(0)
          })
          yield* readAll(workspace)
        })
      )
      expect(openIn(root)).toBe(0)
    }
  )
})

it.skipIf(process.platform !== "linux")(
  "a chain of directories is entered step by step, not from the root each time",
  () => {
    const depth = 300
    const names = Array.from({ length: depth }, () => "d")
    const path = workspaces.make({ [`${names.join("/")}/f.txt`]: "deep" })
    let entered = 0
    const enter: typeof techniques.descriptors.enter = (directory, name) => {
      entered++
      return techniques.descriptors.enter(directory, name)
    }
    const root = openRoot(path, { ...techniques.descriptors, enter })
    try {
      for (let level = 1; level <= depth; level++) {
        const given = names.slice(0, level).join("/")
        expect(withPlace(root, given, { symlinks: "inside", follow: false }, (place) => place.path)).toBe(given)
      }
    } finally {
      closeRoot(root)
    }
    expect(entered).toBeLessThan(3 * depth)
  }
)
