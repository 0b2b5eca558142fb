import { chmodSync, existsSync, linkSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import type { ChangePlan, WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { contentsOf, inWorkspace, makeWorkspaces, outcome } from "../../../test/workspaces.ts"

const workspaces = makeWorkspaces("adopt")
afterAll(workspaces.remove)

/** A workspace with `a.txt`, and a scratch file beside it. */
const makeWithScratch = (content = "adopted"): { readonly root: string; readonly scratch: string } => {
  const root = workspaces.make({ "a.txt": "old" })
  const scratch = `${root}.scratch`
  writeFileSync(scratch, content)
  return { root, scratch }
}

/** Plans and commits, and tells the changes or the code of the failure. */
const planned = (plan: (plan: ChangePlan) => Effect.Effect<unknown, unknown>) => (workspace: WorkspaceService) =>
  outcome(
    Effect.gen(function* () {
      const changes = yield* workspace.plan
      yield* plan(changes)
      return yield* changes.commit()
    })
  )

const undo = (workspace: WorkspaceService) => outcome(Effect.map(workspace.undo(), ({ calls }) => calls.length))

describe("plan.adopt", () => {
  it.each(["a.txt", "new/b.txt"])(
    "renames a scratch file to %s, with its mode, and undo takes it back",
    async (path) => {
      const { root, scratch } = makeWithScratch()
      chmodSync(scratch, 0o750)
      const { ino } = statSync(scratch)
      const changes = await inWorkspace(
        root,
        planned((plan) => plan.adopt(path, scratch, { createDirectories: true }))
      )
      expect(changes).toContainEqual(expect.objectContaining({ path, bytesWritten: 7 }))
      expect(readFileSync(join(root, path), "utf8")).toBe("adopted")
      expect(statSync(join(root, path))).toMatchObject({ ino, nlink: 1 })
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o750)
      expect(existsSync(scratch)).toBe(false)
      expect(await inWorkspace(root, undo)).toBe(1)
      expect(contentsOf(root)).toEqual({ "a.txt": "old" })
    }
  )

  it("shows what a scratch file holds in the diff of the plan", async () => {
    const { root, scratch } = makeWithScratch("adopted\n")
    const diff = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        const plan = yield* workspace.plan
        yield* plan.adopt("a.txt", scratch, { mode: 0o644 })
        return yield* plan.diff
      })
    )
    expect(diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+adopted\n")
  })

  it("leaves the scratch file and the workspace alone when the base fingerprint is another", async () => {
    const { root, scratch } = makeWithScratch()
    const commit = planned((plan) => plan.adopt("a.txt", scratch, { base: `sha256:${"0".repeat(64)}` }))
    expect(await inWorkspace(root, commit)).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
    expect(readFileSync(scratch, "utf8")).toBe("adopted")
  })

  it("refuses a scratch file that changed after it was planned", async () => {
    const { root, scratch } = makeWithScratch()
    const commit = planned((plan) =>
      Effect.andThen(
        plan.adopt("a.txt", scratch),
        Effect.sync(() => writeFileSync(scratch, "something else"))
      )
    )
    expect(await inWorkspace(root, commit)).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
    expect(existsSync(scratch)).toBe(true)
  })

  it("refuses a link, a directory, nothing and a relative path", async () => {
    const root = workspaces.make({ "a.txt": "old", link: "-> a.txt" })
    for (const scratch of [join(root, "link"), root, `${root}.missing`, "a.txt"]) {
      expect(
        await inWorkspace(
          root,
          planned((plan) => plan.adopt("b.txt", scratch))
        )
      ).toBe("not_a_regular_file")
    }
    expect(contentsOf(root)).toEqual({ "a.txt": "old", link: "-> a.txt" })
  })

  it.each(["prepared", "kept", "staged"])("keeps the scratch file when the commit fails after %s", async (last) => {
    const { root, scratch } = makeWithScratch()
    const onStep = (name: string): void => {
      if (name === last) throw new Error("stopped")
    }
    const adopting = (plan: ChangePlan) => Effect.andThen(plan.adopt("a.txt", scratch), plan.adopt("b.txt", scratch))
    await expect(inWorkspace(root, planned(adopting), { open: { onStep } })).rejects.toThrow("stopped")
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
    expect(readFileSync(scratch, "utf8")).toBe("adopted")
    expect(await inWorkspace(root, undo)).toBe("no_history")
    expect(
      await inWorkspace(
        root,
        planned((plan) => plan.adopt("a.txt", scratch))
      )
    ).toHaveLength(1)
    expect(contentsOf(root)).toEqual({ "a.txt": "adopted" })
    expect(existsSync(scratch)).toBe(false)
  })

  it("leaves other names of a scratch file where they are", async () => {
    const { root, scratch } = makeWithScratch()
    linkSync(scratch, `${scratch}.other`)
    await inWorkspace(
      root,
      planned((plan) => plan.adopt("a.txt", scratch))
    )
    expect(readFileSync(`${scratch}.other`, "utf8")).toBe("adopted")
    expect(contentsOf(root)).toEqual({ "a.txt": "adopted" })
  })

  const elsewhere = "/dev/shm"
  const isOnAnotherDevice = existsSync(elsewhere) && statSync(elsewhere).dev !== statSync(workspaces.base).dev
  it.skipIf(!isOnAnotherDevice)("copies a scratch file from another device, and removes it there", async () => {
    const directory = mkdtempSync(join(elsewhere, "haft-adopt-"))
    try {
      const scratch = join(directory, "scratch")
      const content = "x".repeat(700_000)
      writeFileSync(scratch, content, { mode: 0o640 })
      const root = workspaces.make({ "a.txt": "old" })
      await inWorkspace(
        root,
        planned((plan) => plan.adopt("a.txt", scratch))
      )
      expect(readFileSync(join(root, "a.txt"), "utf8") === content).toBe(true)
      expect(statSync(join(root, "a.txt")).mode & 0o777).toBe(0o640)
      expect(existsSync(scratch)).toBe(false)
      expect(await inWorkspace(root, undo)).toBe(1)
      expect(contentsOf(root)).toEqual({ "a.txt": "old" })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe("plan.symlink", () => {
  it("stores the target as it is given, and undo removes the link", async () => {
    const root = workspaces.make({ "a.txt": "old" })
    const changes = await inWorkspace(
      root,
      planned((plan) => plan.symlink("l", "./nowhere/../a.txt"))
    )
    expect(changes).toEqual([expect.objectContaining({ path: "l", kind: "created", what: "symlink" })])
    expect(contentsOf(root)).toEqual({ "a.txt": "old", l: "-> ./nowhere/../a.txt" })
    expect(await inWorkspace(root, undo)).toBe(1)
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
  })

  it("refuses a path where something is, on disk or by the plan, and a missing directory", async () => {
    const root = workspaces.make({ "a.txt": "old" })
    const linked = (path: string) =>
      inWorkspace(
        root,
        planned((plan) => plan.symlink(path, "a.txt"))
      )
    expect(await linked("a.txt")).toBe("already_exists")
    expect(await linked("missing/l")).toBe("file_not_found")
    const twice = planned((plan) => Effect.andThen(plan.symlink("l", "x"), plan.symlink("l", "y")))
    expect(await inWorkspace(root, twice)).toBe("already_exists")
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
  })
})

describe("plan.setMode", () => {
  it("changes the permission bits only, and undo gives the old ones back", async () => {
    const root = workspaces.make({ "a.txt": "old" }, (directory) => chmodSync(join(directory, "a.txt"), 0o640))
    const mode = () => statSync(join(root, "a.txt")).mode & 0o777
    const changes = await inWorkspace(
      root,
      planned((plan) => plan.setMode("a.txt", 0o751))
    )
    expect(changes).toEqual([
      expect.objectContaining({ path: "a.txt", kind: "modified", modeBefore: 0o640, modeAfter: 0o751 })
    ])
    expect(mode()).toBe(0o751)
    expect(await inWorkspace(root, undo)).toBe(1)
    expect(mode()).toBe(0o640)
    expect(contentsOf(root)).toEqual({ "a.txt": "old" })
  })

  it("changes nothing where the bits are the same", async () => {
    const root = workspaces.make({ "d/a.txt": "old" }, (directory) => chmodSync(join(directory, "d/a.txt"), 0o600))
    expect(
      await inWorkspace(
        root,
        planned((plan) => plan.setMode("d/a.txt", 0o600))
      )
    ).toEqual([])
  })

  it("changes the bits of a directory, before or after what happens in it, and undo brings them back", async () => {
    const root = workspaces.make({ "open/a.txt": "old", "shut/b.txt": "old" })
    chmodSync(join(root, "shut"), 0o555)
    const modes = () => ["open", "shut"].map((name) => statSync(join(root, name)).mode & 0o777)
    const made = await inWorkspace(
      root,
      planned((plan) =>
        Effect.all([
          plan.setMode("open", 0o555),
          plan.write("open/new.txt", Buffer.from("new")),
          plan.setMode("shut", 0o700),
          plan.write("shut/new.txt", Buffer.from("new"))
        ])
      )
    )
    expect(made).toMatchObject([
      { path: "open", what: "directory", modeBefore: 0o755, modeAfter: 0o555 },
      { path: "open/new.txt", kind: "created" },
      { path: "shut", modeAfter: 0o700 },
      { path: "shut/new.txt" }
    ])
    expect(modes()).toEqual([0o555, 0o700])
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(modes()).toEqual([0o755, 0o555])
    expect(existsSync(join(root, "open/new.txt"))).toBe(false)
  })
})
