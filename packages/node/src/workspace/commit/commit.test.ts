import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { type Change, isToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { contentsOf, inWorkspace, makeWorkspaces, openIn, outcome } from "../../../test/workspaces.ts"

const workspaces = makeWorkspaces("commit")
afterAll(workspaces.remove)

const bytes = (text: string) => new TextEncoder().encode(text)
const write = (path: string, content: string, rest: Partial<Extract<Change, { kind: "write" }>> = {}): Change => ({
  kind: "write",
  path,
  content: bytes(content),
  ...rest
})
const commit = (root: string, changes: ReadonlyArray<Change>, options?: Parameters<typeof inWorkspace>[2]) =>
  inWorkspace(root, (workspace) => outcome(workspace.commit(changes)), options)
const leftovers = (root: string) => readdirSync(`${root}.state/commits`)
const imagesOf = (root: string) => {
  const directory = `${root}.state/history/images`
  return readdirSync(directory).map((name) => join(directory, name))
}

describe("writing", () => {
  it("makes all changes, and says what it did", async () => {
    const root = workspaces.make({ "a.txt": "one", "b.txt": "gone", "d/c.txt": "moves" })
    const changes = await commit(root, [
      write("a.txt", "two"),
      write("new/deep/n.txt", "new", { createDirectories: true }),
      { kind: "delete", path: "b.txt" },
      { kind: "move", from: "d/c.txt", to: "d/e.txt" }
    ])
    expect(changes).toEqual([
      expect.objectContaining({ path: "a.txt", kind: "modified", bytesWritten: 3 }),
      expect.objectContaining({ path: "new", kind: "created", before: "absent", after: "directory" }),
      expect.objectContaining({ path: "new/deep", kind: "created", before: "absent", after: "directory" }),
      expect.objectContaining({ path: "new/deep/n.txt", kind: "created", before: "absent", bytesWritten: 3 }),
      expect.objectContaining({ path: "b.txt", kind: "deleted", after: "absent" }),
      expect.objectContaining({ path: "d/c.txt", kind: "moved", movedTo: "d/e.txt" })
    ])
    expect(contentsOf(root)).toEqual({
      "a.txt": "two",
      d: null,
      "d/e.txt": "moves",
      new: null,
      "new/deep": null,
      "new/deep/n.txt": "new"
    })
    expect(leftovers(root)).toEqual([])
  })

  it.each([true, false])("never makes a changed file disappear for readers (durable: %s)", async (durable) => {
    const root = workspaces.make({ "a.txt": "one", "d/b.txt": "two" })
    const seen: Array<string> = []
    const onStep = (): void => {
      seen.push([join(root, "a.txt"), join(root, "d/b.txt")].map((path) => readFileSync(path, "utf8")).join(" "))
    }
    await commit(root, [write("a.txt", "1"), write("d/b.txt", "2"), write("c.txt", "3")], { open: { durable, onStep } })
    expect(new Set(seen)).toEqual(new Set(["one two", "1 two", "1 2"]))
  })

  it("writes no file where a directory is named", async () => {
    const root = workspaces.make({ "a.txt": "one" })
    const before = contentsOf(root)
    expect(await commit(root, [write("a.txt/", "x")])).toBe("is_directory")
    expect(await commit(root, [write("new/", "x")])).toBe("is_directory")
    expect(await commit(root, [write("new/.", "x")])).toBe("is_directory")
    expect(await commit(root, [{ kind: "move", from: "a.txt", to: "d/" }])).toBe("is_directory")
    expect(contentsOf(root)).toEqual(before)
  })

  it("treats a file with the name of a temporary one like any other", async () => {
    const planted = ".haft-0123456789abcdef-0.tmp"
    const root = workspaces.make({ [planted]: "planted", [`d/${planted}`]: "planted" })
    const listed = await inWorkspace(root, (workspace) => workspace.list("."))
    expect(listed.map(({ name }) => name)).toEqual([planted, "d"])
    await commit(root, [write(planted, "changed"), { kind: "delete", path: "d", recursive: true }])
    expect(contentsOf(root)).toEqual({ [planted]: "changed" })
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(contentsOf(root)).toEqual({ [planted]: "planted", d: null, [`d/${planted}`]: "planted" })
  })

  it("refuses everything in a workspace that was deleted, instead of showing it empty", async () => {
    const root = workspaces.make({ "a.txt": "one" })
    const outcomes = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        rmSync(root, { recursive: true })
        return yield* Effect.all(
          [
            workspace.list("."),
            workspace.walk(".", () => "continue"),
            workspace.glob(".", "**"),
            workspace.info("."),
            workspace.commit([write("b.txt", "two")])
          ].map(outcome)
        )
      })
    )
    expect(outcomes).toEqual(Array.from({ length: 5 }, () => "file_not_found"))
  })

  it("leaves every file alone when one change can't be made", async () => {
    const root = workspaces.make({ "a.txt": "one", "b.txt": "two", d: "file" })
    const before = contentsOf(root)
    const good = [write("a.txt", "changed"), write("new.txt", "new")]
    expect(await commit(root, [...good, { kind: "delete", path: "none" }])).toBe("file_not_found")
    expect(await commit(root, [...good, write("x/y.txt", "")])).toBe("file_not_found")
    expect(await commit(root, [...good, write("d/y.txt", "", { createDirectories: true })])).toBe("not_a_directory")
    expect(await commit(root, [...good, write("../y.txt", "")])).toBe("path_outside_workspace")
    expect(await commit(root, [...good, { kind: "move", from: "a.txt", to: "b.txt" }])).toBe("already_exists")
    expect(await commit(root, [...good, write("b.txt", "", { base: "absent" })])).toBe("stale_file")
    expect(contentsOf(root)).toEqual(before)
    expect(leftovers(root)).toEqual([])
  })

  it("keeps the mode of a file, and gives a new one the mode asked for", async () => {
    const root = workspaces.make({ "run.sh": "one" }, (root) => chmodSync(join(root, "run.sh"), 0o755))
    await commit(root, [write("run.sh", "two"), write("private", "x", { mode: 0o600 }), write("plain", "y")])
    const mode = (path: string) => statSync(join(root, path)).mode & 0o777
    expect([mode("run.sh"), mode("private"), mode("plain")]).toEqual([0o755, 0o600, 0o666 & ~process.umask()])
    expect(await commit(root, [write("plain", "y", { mode: 0o700 })])).toHaveLength(1)
    expect(mode("plain")).toBe(0o700)
  })

  const isRoot = process.getuid?.() === 0
  it.runIf(isRoot)("gives what root makes to who owns the place; for root only (not on this platform)", async () => {
    const root = workspaces.make({ "a.txt": "one" })
    for (const path of [root, join(root, "a.txt")]) chownSync(path, 4711, 4712)
    await commit(root, [write("a.txt", "two"), write("b.txt", ""), write("new/c.txt", "", { createDirectories: true })])
    for (const path of ["a.txt", "b.txt", "new", "new/c.txt"]) {
      expect(statSync(join(root, path))).toMatchObject({ uid: 4711, gid: 4712 })
    }
  })

  it("writes through a link to its target inside, and keeps the link", async () => {
    const root = workspaces.make({ "d/real.txt": "one", link: "-> d/real.txt", later: "-> d/later.txt" })
    expect(await commit(root, [write("link", "two"), write("later", "new")])).toEqual([
      expect.objectContaining({ path: "d/real.txt", kind: "modified" }),
      expect.objectContaining({ path: "d/later.txt", kind: "created" })
    ])
    expect(contentsOf(root)).toEqual({
      d: null,
      "d/real.txt": "two",
      "d/later.txt": "new",
      link: "-> d/real.txt",
      later: "-> d/later.txt"
    })
  })

  it.each(["write", "move over it", "mode"] as const)(
    "breaks a hard link before it changes a file (%s)",
    async (how) => {
      const root = workspaces.make({ "one.txt": "old", "n.txt": "new" }, (root) => {
        chmodSync(join(root, "one.txt"), 0o640)
        linkSync(join(root, "one.txt"), `${root}.outside`)
      })
      const changes: Record<typeof how, Change> = {
        write: write("one.txt", "new"),
        "move over it": { kind: "move", from: "n.txt", to: "one.txt", overwrite: true },
        mode: { kind: "set_mode", path: "one.txt", mode: 0o600 }
      }
      const made = await commit(root, [changes[how]])
      expect(readFileSync(`${root}.outside`, "utf8")).toBe("old")
      expect(statSync(`${root}.outside`)).toMatchObject({ nlink: 1 })
      expect(statSync(`${root}.outside`).mode & 0o777).toBe(0o640)
      expect(contentsOf(root)["one.txt"]).toBe(how === "mode" ? "old" : "new")
      expect(made).toMatchObject(
        how === "move over it" ? [{ kind: "deleted" }, { kind: "moved" }] : [{ otherNames: 1 }]
      )
      await inWorkspace(root, (workspace) => workspace.undo())
      expect(contentsOf(root)).toEqual({ "one.txt": "old", "n.txt": "new" })
      expect(readFileSync(`${root}.outside`, "utf8")).toBe("old")
    }
  )

  it("takes set-user-ID and set-group-ID away with the content that they were given to", async () => {
    const root = workspaces.make({ tool: "old" }, (root) => chmodSync(join(root, "tool"), 0o6755))
    const mode = () => statSync(join(root, "tool")).mode & 0o7777
    await commit(root, [write("tool", "new")])
    expect(mode()).toBe(0o755)
    await inWorkspace(root, (workspace) => workspace.undo())
    expect([mode(), contentsOf(root)]).toEqual([0o6755, { tool: "old" }])
  })

  it("touches nothing when nothing changes", async () => {
    const root = workspaces.make({ "a.txt": "same" })
    utimesSync(join(root, "a.txt"), 1000, 1000)
    expect(await commit(root, [write("a.txt", "same"), { kind: "create_directory", path: "." }])).toEqual([])
    expect(statSync(join(root, "a.txt")).mtimeMs).toBe(1_000_000)
  })

  it("puts pieces together in order", async () => {
    const root = workspaces.make({})
    const content = ["a", "", "bc"].map(bytes)
    expect(await commit(root, [{ kind: "write", path: "x", content }])).toMatchObject([{ bytesWritten: 3 }])
    expect(contentsOf(root)).toEqual({ x: "abc" })
  })

  it("refuses to write where a directory, a pipe or the workspace is", async () => {
    const root = workspaces.make({ "d/x": "" })
    expect(await commit(root, [write("d", "x")])).toBe("is_directory")
    expect(await commit(root, [write(".", "x")])).toBe("is_directory")
  })

  it("makes each change on the result of the one before", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b", link: "-> a.txt" })
    await commit(root, [
      { kind: "delete", path: "a.txt" },
      write("a.txt", "again", { base: "absent" }),
      { kind: "move", from: "b.txt", to: "c.txt" },
      write("c.txt", "moved and changed"),
      { kind: "delete", path: "link" },
      write("link", "a file now")
    ])
    expect(contentsOf(root)).toEqual({ "a.txt": "again", "c.txt": "moved and changed", link: "a file now" })
  })

  it("swaps two files, and a directory with a file", async () => {
    const root = workspaces.make({ one: "1", two: "2", "d/x": "x", f: "f" })
    const swap = (one: string, other: string): ReadonlyArray<Change> => [
      { kind: "move", from: one, to: "between" },
      { kind: "move", from: other, to: one },
      { kind: "move", from: "between", to: other }
    ]
    await commit(root, [...swap("one", "two"), ...swap("d", "f")])
    expect(contentsOf(root)).toEqual({ one: "2", two: "1", f: null, "f/x": "x", d: "f" })
  })

  it("refuses what changed since it was read or approved", async () => {
    const root = workspaces.make({ "a.txt": "a", "seen.txt": "s" })
    const base = await inWorkspace(root, (workspace) => workspace.fingerprint("a.txt"))
    const seen = await inWorkspace(root, (workspace) => workspace.fingerprint("seen.txt"))
    expect(await commit(root, [write("a.txt", "b", { base })])).toHaveLength(1)
    expect(await commit(root, [write("a.txt", "c", { base })])).toBe("stale_file")
    expect(await commit(root, [{ kind: "delete", path: "a.txt", base }])).toBe("stale_file")
    const approvedState = new Map([["seen.txt", seen]])
    writeFileSync(join(root, "seen.txt"), "changed")
    expect(await commit(root, [write("new.txt", "c")], { approvedState })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "b", "seen.txt": "changed" })
  })

  it("does not follow links where the policy denies it", async () => {
    const root = workspaces.make({ "a.txt": "a", link: "-> a.txt", dir: "-> ." })
    expect(await commit(root, [write("link", "x")], { symlinks: "deny" })).toBe("symlink_blocked")
    expect(await commit(root, [write("dir/new", "x")], { symlinks: "deny" })).toBe("symlink_blocked")
    expect(contentsOf(root)).toEqual({ "a.txt": "a", link: "-> a.txt", dir: "-> ." })
  })
})

describe("deleting, moving, creating", () => {
  it("deletes a tree only when told to, and lists everything that went", async () => {
    const root = workspaces.make({ "d/a": "a", "d/e/b": "b", "d/l": "-> ../keep", keep: "k" })
    expect(await commit(root, [{ kind: "delete", path: "d" }])).toBe("is_directory")
    const gone = await commit(root, [{ kind: "delete", path: "d", recursive: true }])
    expect(typeof gone === "string" ? gone : gone.map(({ path }) => path)).toEqual(["d/a", "d/e/b", "d/e", "d/l", "d"])
    expect(contentsOf(root)).toEqual({ keep: "k" })
    expect(leftovers(root)).toEqual([])
  })

  it("deletes names that look like paths of another system", async () => {
    const root = workspaces.make({ "d/a": "a" }, (root) => writeFileSync(join(root, "d", "C:\\odd\\.."), ""))
    await commit(root, [{ kind: "delete", path: "d", recursive: true }])
    expect(contentsOf(root)).toEqual({})
  })

  it("refuses to delete a directory with a name that undo could not bring back", async () => {
    const name = Buffer.from([0xff, 0xfe])
    const root = workspaces.make({ "d/a": "a" }, (root) => {
      writeFileSync(Buffer.concat([Buffer.from(join(root, "d/")), name]), "")
    })
    expect(await commit(root, [{ kind: "delete", path: "d", recursive: true }])).toBe("write_failed")
    expect(readdirSync(join(root, "d"), { encoding: "buffer" })).toEqual([Buffer.from("a"), name])
  })

  it("refuses to delete a tree that is too deep for undo to bring back", { timeout: 60_000 }, async () => {
    const root = workspaces.make({ "d/a": "a" })
    const deep = "d/".repeat(400)
    execFileSync("mkdir", ["-p", join(root, deep)])
    expect(await commit(root, [{ kind: "delete", path: "d", recursive: true }])).toBe("write_failed")
    expect(existsSync(join(root, deep))).toBe(true)
  })

  it("moves, deletes and brings back a file of 1 TB without reading it", async () => {
    const root = workspaces.make({ "large.bin": "" }, (root) => truncateSync(join(root, "large.bin"), 1e12))
    expect(await commit(root, [{ kind: "move", from: "large.bin", to: "d.bin" }])).toMatchObject([{ kind: "moved" }])
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(statSync(join(root, "large.bin")).size).toBe(1e12)
    const base = await inWorkspace(root, (workspace) => workspace.fingerprint("large.bin"))
    expect(await commit(root, [{ kind: "delete", path: "large.bin", base }])).toMatchObject([{ kind: "deleted" }])
    expect(readdirSync(root)).toEqual([])
    expect(await inWorkspace(root, (workspace) => outcome(workspace.undo()))).toBe("no_history")
  })

  it("brings back a large file that was replaced or deleted, without hashing it", async () => {
    const root = workspaces.make({ "large.bin": "" }, (root) => truncateSync(join(root, "large.bin"), 20_000_000))
    await commit(root, [write("large.bin", "small")])
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(statSync(join(root, "large.bin")).size).toBe(20_000_000)
    await commit(root, [{ kind: "delete", path: "large.bin" }])
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(statSync(join(root, "large.bin")).size).toBe(20_000_000)
    const kept = readdirSync(join(`${root}.state`, "history", "images"))
    expect(kept).toContainEqual(expect.stringMatching(/^stat-/))
  })

  it("holds to the fingerprint of a large file's content, where the caller knows it", async () => {
    const root = workspaces.make({ "large.txt": "x".repeat(20_000_000) })
    const base = await inWorkspace(root, (workspace) =>
      Effect.map(workspace.snapshot("large.txt"), ({ fingerprint }) => fingerprint)
    )
    expect(await commit(root, [write("large.txt", "1", { base })])).toMatchObject([{ before: base }])
    expect(await commit(root, [write("large.txt", "2", { base })])).toBe("stale_file")
  })

  it("deletes a link and not what it leads to", async () => {
    const root = workspaces.make({ "a.txt": "a", link: "-> a.txt" })
    const base = await inWorkspace(root, (workspace) => workspace.fingerprint("link"))
    expect(await commit(root, [{ kind: "delete", path: "link", base }])).toMatchObject([
      { path: "link", kind: "deleted" }
    ])
    expect(contentsOf(root)).toEqual({ "a.txt": "a" })
  })

  it("never deletes or moves the workspace itself", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    expect(await commit(root, [{ kind: "delete", path: ".", recursive: true }])).toBe("path_outside_workspace")
    expect(await commit(root, [{ kind: "move", from: ".", to: "x" }])).toBe("path_outside_workspace")
    expect(contentsOf(root)).toEqual({ "a.txt": "a" })
  })

  it("moves files and directories, and replaces a file only when told to", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b", "d/x/y": "y", e: "-> a.txt" })
    expect(await commit(root, [{ kind: "move", from: "a.txt", to: "b.txt" }])).toBe("already_exists")
    expect(await commit(root, [{ kind: "move", from: "a.txt", to: "d", overwrite: true }])).toBe("is_directory")
    expect(await commit(root, [{ kind: "move", from: "d", to: "b.txt", overwrite: true }])).toBe("already_exists")
    expect(await commit(root, [{ kind: "move", from: "d", to: "d/x/in", overwrite: true }])).toBe("invalid_params")
    expect(await commit(root, [{ kind: "move", from: "a.txt", to: "no/a.txt" }])).toBe("file_not_found")
    await commit(root, [
      { kind: "move", from: "a.txt", to: "b.txt", overwrite: true },
      { kind: "move", from: "d", to: "n/m", createDirectories: true },
      { kind: "move", from: "e", to: "link" }
    ])
    expect(contentsOf(root)).toEqual({
      "b.txt": "a",
      n: null,
      "n/m": null,
      "n/m/x": null,
      "n/m/x/y": "y",
      link: "-> a.txt"
    })
    expect(await commit(root, [{ kind: "move", from: "n", to: "N" }])).toHaveLength(1)
    expect(await commit(root, [{ kind: "move", from: "b.txt", to: "b.txt" }])).toEqual([])
    expect(readdirSync(root).toSorted()).toEqual(["N", "b.txt", "link"])
  })

  it.each([
    ["alone", [], ["a b", "- a"]],
    ["among others", [write("c.txt", "c")], ["a b", "- b", "- a"]]
  ])("lets nobody see a file missing that another takes the place of, %s", async (_, others, expected) => {
    const root = workspaces.make({ "a.txt": "a", "d/b.txt": "b" })
    const seen = new Set<string>()
    const see = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "-")
    const onStep = () => seen.add(`${see("a.txt")} ${see("d/b.txt")}`)
    await commit(root, [{ kind: "move", from: "a.txt", to: "d/b.txt", overwrite: true }, ...others], {
      open: { onStep }
    })
    expect([...seen]).toEqual(expected)
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(contentsOf(root)).toEqual({ "a.txt": "a", d: null, "d/b.txt": "b" })
  })

  it("puts both files back where a move over one can't be finished", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    const onStep = (name: string) => {
      if (name === "decided") writeFileSync(join(root, "z.txt"), "somebody else's")
    }
    const changes: ReadonlyArray<Change> = [
      { kind: "move", from: "a.txt", to: "b.txt", overwrite: true },
      write("z.txt", "z")
    ]
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "b.txt": "b", "z.txt": "somebody else's" })
    expect(leftovers(root)).toEqual([])
  })

  it("still takes back a move over a file when the host died right after it", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    await commit(root, [{ kind: "move", from: "a.txt", to: "b.txt", overwrite: true }])
    const entry = JSON.parse(readFileSync(`${root}.state/history/entries.jsonl`, "utf8")) as { readonly id: string }
    writeFileSync(`${root}.state/commits/${entry.id}.sweep`, "[]")
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "b.txt": "b" })
  })

  it("moves one name of a file onto another", async () => {
    const root = workspaces.make({ a: "same" }, (root) => linkSync(join(root, "a"), join(root, "b")))
    await commit(root, [{ kind: "move", from: "a", to: "b", overwrite: true }])
    expect(contentsOf(root)).toEqual({ b: "same" })
  })

  it("creates directories with those on the way", async () => {
    const root = workspaces.make({ f: "" })
    expect(await commit(root, [{ kind: "create_directory", path: "a/b" }])).toMatchObject([
      { path: "a" },
      { path: "a/b" }
    ])
    expect(await commit(root, [{ kind: "create_directory", path: "a/b" }])).toEqual([])
    expect(await commit(root, [{ kind: "create_directory", path: "f" }])).toBe("already_exists")
    expect(await commit(root, [{ kind: "create_directory", path: "f/x" }])).toBe("not_a_directory")
  })
})

describe("undo", () => {
  const undo = (root: string, what?: { call: string } | { run: string }) =>
    inWorkspace(root, (workspace) => outcome(workspace.undo(what)), { id: "undo", run: "r" })
  const inCall = (id: string, run = "r") => ({ id, run })

  it("takes back the last call, then the one before", async () => {
    const root = workspaces.make({ "a.txt": "zero" })
    chmodSync(join(root, "a.txt"), 0o750)
    await commit(root, [write("a.txt", "one")], inCall("c1"))
    await commit(root, [write("a.txt", "two"), write("d/new", "n", { createDirectories: true })], inCall("c2"))
    expect(await undo(root)).toEqual({ calls: ["c2"], paths: ["d/new", "d", "a.txt"] })
    expect(contentsOf(root)).toEqual({ "a.txt": "one" })
    expect(await undo(root)).toEqual({ calls: ["c1"], paths: ["a.txt"] })
    expect(contentsOf(root)).toEqual({ "a.txt": "zero" })
    expect(statSync(join(root, "a.txt")).mode & 0o777).toBe(0o750)
    expect(await undo(root)).toBe("no_history")
  })

  it("restores a mode that the call changed, and keeps one that another program changed since", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    await commit(root, [write("a.txt", "1", { mode: 0o755 }), write("b.txt", "2")], inCall("c1"))
    chmodSync(join(root, "b.txt"), 0o700)
    await undo(root)
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "b.txt": "b" })
    const modes = ["a.txt", "b.txt"].map((path) => statSync(join(root, path)).mode & 0o777)
    expect(modes).toEqual([0o644, 0o700])
  })

  it("takes back a run, a named call, and an undo", async () => {
    const root = workspaces.make({ "a.txt": "a", "d/x": "x", "d/l": "-> x", "d/e/y": "y", "m.txt": "m", "o.txt": "o" })
    const before = contentsOf(root)
    await commit(root, [{ kind: "delete", path: "d", recursive: true }], inCall("c1"))
    await commit(root, [{ kind: "move", from: "m.txt", to: "o.txt", overwrite: true }], inCall("c2"))
    await commit(root, [write("a.txt", "b"), write("n.txt", "n")], inCall("c3"))
    await commit(root, [write("a.txt", "c")], inCall("c4"))
    const after = contentsOf(root)
    expect(await undo(root, { run: "r" })).toMatchObject({ calls: ["c4", "c3", "c2", "c1"] })
    expect(contentsOf(root)).toEqual(before)
    expect(await undo(root, { call: "c2" })).toBe("no_history")
    expect(await undo(root, { call: "undo" })).toMatchObject({ calls: ["undo"] })
    expect(contentsOf(root)).toEqual(after)
    expect(await undo(root, { call: "c2" })).toMatchObject({ calls: ["c2"], paths: ["m.txt", "o.txt"] })
    expect(contentsOf(root)).toEqual({ ...after, "m.txt": "m", "o.txt": "o" })
    expect(await undo(root, { call: "none" })).toBe("no_history")
    expect(await undo(root, { run: "none" })).toBe("no_history")
  })

  it("refuses to lose a later change, and names the file", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b", "m.txt": "m" })
    await commit(root, [write("a.txt", "a2"), write("b.txt", "b2")], inCall("c1"))
    writeFileSync(join(root, "b.txt"), "by hand")
    const error = await inWorkspace(root, (workspace) => Effect.flip(workspace.undo()))
    expect([error.code, error.details]).toEqual(["stale_file", { path: "b.txt", paths: ["b.txt"] }])
    expect(contentsOf(root)).toEqual({ "a.txt": "a2", "b.txt": "by hand", "m.txt": "m" })
    await commit(root, [{ kind: "delete", path: "m.txt" }], inCall("c2"))
    writeFileSync(join(root, "m.txt"), "new")
    expect(await undo(root)).toBe("stale_file")
  })

  it("leaves a directory that has got something else in it meanwhile", async () => {
    const root = workspaces.make({})
    await commit(root, [write("d/a", "a", { createDirectories: true })], inCall("c1"))
    writeFileSync(join(root, "d/b"), "b")
    expect(await undo(root)).toMatchObject({ calls: ["c1"] })
    expect(contentsOf(root)).toEqual({ d: null, "d/b": "b" })
  })

  it("keeps no more than it may, and forgets the oldest first", async () => {
    const root = workspaces.make({ "a.txt": "0".repeat(1000) })
    const open = { historyBytes: 10_000 }
    for (let step = 1; step <= 30; step++) {
      await commit(root, [write("a.txt", String(step % 10).repeat(1000 + step))], { ...inCall(`c${step}`), open })
    }
    const size = imagesOf(root).reduce((sum, path) => sum + lstatSync(path).size, 0)
    expect(size).toBeLessThanOrEqual(10_000)
    expect(await undo(root, { call: "c1" })).toBe("no_history")
    expect(await undo(root, { call: "c30" })).toMatchObject({ calls: ["c30"] })
  })

  it("keeps no more than it may where content comes back that is kept already", async () => {
    const root = workspaces.make({ "a.txt": "0".repeat(2500), "b.txt": "0" })
    const sizes: Array<number> = []
    await inWorkspace(
      root,
      (workspace) =>
        Effect.gen(function* () {
          for (let step = 1; step <= 40; step++) {
            const other = write("b.txt", String(step).padEnd(500, "."))
            yield* workspace.commit(step > 12 ? [other] : [write("a.txt", String(step % 2).repeat(2500)), other])
            sizes.push(imagesOf(root).reduce((sum, path) => sum + lstatSync(path).size, 0))
          }
        }),
      { open: { historyBytes: 10_000 } }
    )
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000)
  })

  it("does not forget what it is about to bring back, where there is no room for both", async () => {
    const root = workspaces.make({ "a.txt": "0".repeat(6000) })
    const open = { historyBytes: 10_000 }
    await commit(root, [write("a.txt", "1".repeat(6000))], { ...inCall("c1"), open })
    const undone = await inWorkspace(root, (workspace) => outcome(workspace.undo()), { ...inCall("c2"), open })
    expect(undone).toMatchObject({ calls: ["c1"], paths: ["a.txt"] })
    expect(contentsOf(root)).toEqual({ "a.txt": "0".repeat(6000) })
    await commit(root, [write("a.txt", "2".repeat(6000))], { ...inCall("c3"), open })
    expect(imagesOf(root)).toHaveLength(1)
  })

  it("says so when what was replaced was too large to keep", async () => {
    const root = workspaces.make({ "a.txt": "0".repeat(20_000) })
    await commit(root, [write("a.txt", "small")], { ...inCall("c1"), open: { historyBytes: 10_000 } })
    expect(await undo(root)).toBe("no_history")
    expect(contentsOf(root)).toEqual({ "a.txt": "small" })
  })

  it.skipIf(process.platform === "win32")("says what it is that can't be brought back (named pipes)", async () => {
    const root = workspaces.make({}, (root) => void execFileSync("mkfifo", [join(root, "pipe")]))
    await commit(root, [{ kind: "delete", path: "pipe" }], inCall("c1"))
    const error = await inWorkspace(root, (workspace) => Effect.flip(workspace.undo()))
    expect([error.code, error.message]).toEqual([
      "no_history",
      "pipe was a pipe, a socket or a device, which can't be brought back; nothing was changed"
    ])
  })

  it.skipIf(process.platform === "win32")("keeps the replaced file itself, and leaves others one name", async () => {
    const root = workspaces.make({ "a.txt": "a", "d/b.txt": "b", "c.txt": "c" })
    const number = (path: string) => statSync(join(root, path)).ino
    const replaced = [number("a.txt"), number("d/b.txt")]
    await commit(root, [write("a.txt", "2"), { kind: "delete", path: "d/b.txt" }], inCall("c1"))
    const kept = imagesOf(root).map((path) => statSync(path))
    expect(new Set(kept.map(({ ino }) => ino))).toEqual(new Set(replaced))
    expect(kept.map(({ nlink }) => nlink)).toEqual([1, 1])
    const onStep = (name: string) => {
      if (name === "kept") writeFileSync(join(root, "c.txt"), "changed")
    }
    expect(await commit(root, [write("a.txt", "3"), write("c.txt", "3")], { open: { onStep } })).toBe("stale_file")
    expect(["a.txt", "c.txt"].map((path) => statSync(join(root, path)).nlink)).toEqual([1, 1])
    expect(await undo(root)).toMatchObject({ calls: ["c1"] })
    expect(contentsOf(root)).toEqual({ "a.txt": "a", d: null, "d/b.txt": "b", "c.txt": "changed" })
  })

  it("never writes into a file of the workspace that the history has a name for", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "a" })
    await commit(root, [write("b.txt", "b")], inCall("c1"))
    for (const path of imagesOf(root)) {
      rmSync(path)
      linkSync(join(root, "a.txt"), path)
    }
    await commit(root, [write("a.txt", "2")], inCall("c2"))
    expect(contentsOf(root)).toEqual({ "a.txt": "2", "b.txt": "b" })
    expect(await undo(root)).toMatchObject({ calls: ["c2"] })
    expect(await undo(root, { call: "c1" })).toMatchObject({ calls: ["c1"] })
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "b.txt": "a" })
  })

  it.skipIf(process.platform === "win32")("brings back the rest of a directory, and says what is lost", async () => {
    const root = workspaces.make({ "d/a.txt": "a", "d/e/b.txt": "b" }, (root) =>
      execFileSync("mkfifo", [join(root, "d/pipe")])
    )
    await commit(root, [{ kind: "delete", path: "d", recursive: true }], inCall("c1"))
    expect(await inWorkspace(root, (workspace) => workspace.undo())).toEqual({
      calls: ["c1"],
      paths: ["d", "d/e", "d/e/b.txt", "d/a.txt"],
      lost: ["d/pipe"]
    })
    expect(contentsOf(root)).toEqual({ d: null, "d/a.txt": "a", "d/e": null, "d/e/b.txt": "b" })
  })

  it("keeps a directory that another program has added files to, and does not report it as removed", async () => {
    const root = workspaces.make({})
    await commit(root, [write("d/e/a.txt", "a", { createDirectories: true })], inCall("c1"))
    writeFileSync(join(root, "d/theirs.txt"), "theirs")
    expect(await inWorkspace(root, (workspace) => workspace.undo())).toEqual({
      calls: ["c1"],
      paths: ["d/e/a.txt", "d/e"]
    })
    expect(contentsOf(root)).toEqual({ d: null, "d/theirs.txt": "theirs" })
  })

  it.skipIf(process.getuid?.() !== 0)("gives a file back to whom it belonged (not on this platform)", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    chownSync(join(root, "a.txt"), 1234, 1235)
    chmodSync(join(root, "a.txt"), 0o4750)
    await commit(root, [{ kind: "delete", path: "a.txt" }], inCall("c1"))
    await undo(root)
    const { uid, gid, mode } = statSync(join(root, "a.txt"))
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: 1234, gid: 1235, mode: 0o4750 })
  })

  it("does not bring back content that was tampered with", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    await commit(root, [write("a.txt", "b")], inCall("c1"))
    for (const path of imagesOf(root)) writeFileSync(path, "x")
    expect(await undo(root)).toBe("no_history")
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("b")
  })
})

describe("odd moments", () => {
  it("refuses a file that appears between planning and writing", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    const before = { "a.txt": "a", "new.txt": "somebody else's" }
    for (const changes of [[write("new.txt", "n")], [write("a.txt", "b"), write("new.txt", "n")]]) {
      const onStep = (name: string) => {
        if (name === "decided") writeFileSync(join(root, "new.txt"), "somebody else's")
      }
      expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
      expect(contentsOf(root)).toEqual(before)
      expect(leftovers(root)).toEqual([])
      expect(await commit(root, [{ kind: "delete", path: "new.txt" }])).toHaveLength(1)
    }
  })

  it.each([
    ["decided", [write("a.txt", "2")]],
    ["put_in_place", [write("b.txt", "2"), write("a.txt", "2")]]
  ])("refuses a file that another host replaces at the last moment (%s)", async (moment, changes) => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    const onStep = (name: string) => {
      if (name !== moment) return
      writeFileSync(`${root}.theirs`, "theirs")
      renameSync(`${root}.theirs`, join(root, "a.txt"))
    }
    const { ino } = statSync(join(root, "b.txt"))
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "theirs", "b.txt": "b" })
    expect(statSync(join(root, "b.txt"))).toMatchObject({ ino, nlink: 1 })
    expect(leftovers(root)).toEqual([])
  })

  it("gives a file back its own content where directories changed places, too", async () => {
    const root = workspaces.make({ "d/a.txt": "of d", "e/a.txt": "of e" })
    const changes: ReadonlyArray<Change> = [
      { kind: "delete", path: "e", recursive: true },
      { kind: "move", from: "d", to: "e" },
      write("e/a.txt", "new"),
      write("z.txt", "new")
    ]
    const onStep = (name: string) => {
      if (name === "decided") writeFileSync(join(root, "z.txt"), "theirs")
    }
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ d: null, "d/a.txt": "of d", e: null, "e/a.txt": "of e", "z.txt": "theirs" })
    expect(statSync(join(root, "d/a.txt")).nlink).toBe(1)
    expect(leftovers(root)).toEqual([])
  })

  it("leaves alone what another host put in the place of a new file, where it gives up", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    const onStep = (name: string) => {
      if (name !== "put_in_place") return
      for (const file of ["a.txt", "z.txt"]) {
        writeFileSync(`${root}.theirs`, "theirs")
        renameSync(`${root}.theirs`, join(root, file))
      }
    }
    const changes = [write("a.txt", "2"), write("b.txt", "2"), write("z.txt", "2")]
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "theirs", "b.txt": "b", "z.txt": "theirs" })
  })

  it.each<[string, ReadonlyArray<Change>]>([
    ["changed", [write("a.txt", "later")]],
    ["deleted", [{ kind: "delete", path: "a.txt" }]]
  ])("takes back once what stays on record because a name can't be removed (%s later)", async (_, later) => {
    const root = workspaces.make({ "a.txt": "a" })
    let record: readonly [string, string] | undefined
    const onStep = (name: string) => {
      if (name !== "decided") return
      const file = readdirSync(`${root}.state/commits`).find((one) => one.endsWith(".commit")) ?? ""
      record = [file.replace(".commit", ".abort"), readFileSync(`${root}.state/commits/${file}`, "utf8")]
      writeFileSync(join(root, "z.txt"), "theirs")
    }
    const changes = [write("a.txt", "2"), write("z.txt", "2")]
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    await commit(root, later)
    const after = contentsOf(root)
    const [file, content] = record ?? []
    writeFileSync(`${root}.state/commits/${file}`, content ?? "")
    await inWorkspace(root, () => Effect.void)
    expect(contentsOf(root)).toEqual(after)
    expect(leftovers(root)).toEqual([])
    await inWorkspace(root, (workspace) => workspace.undo())
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "z.txt": "theirs" })
  })

  it.skipIf(process.platform === "win32")("takes no second name beside a file that the history keeps", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    const seen = new Set<string>()
    const onStep = (name: string) => {
      if (name === "put_in_place") for (const file of readdirSync(root)) seen.add(file.replace(/-[0-9a-f]+-/, "-"))
    }
    await commit(root, [write("a.txt", "1"), write("b.txt", "2")], { open: { onStep } })
    expect([...seen].toSorted()).toEqual([".haft-2.tmp", "a.txt", "b.txt"])
  })

  it("notices a change made while it was preparing", async () => {
    const root = workspaces.make({ "a.txt": "a", "b.txt": "b" })
    const onStep = (name: string) => {
      if (name === "staged") writeFileSync(join(root, "b.txt"), "by hand")
    }
    const changes = [write("a.txt", "2"), write("b.txt", "2")]
    expect(await commit(root, changes, { open: { onStep } })).toBe("stale_file")
    expect(contentsOf(root)).toEqual({ "a.txt": "a", "b.txt": "by hand" })
  })

  it.runIf(process.platform === "linux").each([true, false])(
    "lets go of all that it replaced and removed, durable: %s (not on this platform)",
    async (durable) => {
      const names = Array.from({ length: 600 }, (_, index) => `f${index}`)
      const root = workspaces.make(Object.fromEntries(names.map((name) => [name, "old"])))
      await commit(
        root,
        names.map((name, index) => (index % 3 === 0 ? { kind: "delete", path: name } : write(name, "new"))),
        { open: { durable } }
      )
      await commit(root, [write("f1", "newer")], { open: { durable } })
      await expect.poll(() => openIn(root)).toBe(0)
      expect(Object.keys(contentsOf(root))).toHaveLength(400)
    }
  )

  it("serves all commits of a host with one file of temporary names, also where another host removes it", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    const names = () => readdirSync(`${root}.state/commits`)
    const seen = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        yield* workspace.commit([write("a.txt", "1")])
        const first = names()
        yield* workspace.commit([write("a.txt", "2"), write("b.txt", "2")])
        const second = names()
        yield* Effect.promise(() => commit(root, [write("a.txt", "3")]))
        const between = names()
        yield* workspace.commit([write("a.txt", "4")])
        return { first, second, between, third: names() }
      })
    )
    expect(seen.first).toEqual([expect.stringMatching(/\.sweep$/)])
    expect(seen.second).toEqual(seen.first)
    expect(seen.between).toEqual([])
    expect(seen.third).toHaveLength(1)
    expect(leftovers(root)).toEqual([])
    expect(contentsOf(root)).toEqual({ "a.txt": "4", "b.txt": "2" })
  })

  it("sweeps the names that a host which died left on record, and nothing but names of its kind", async () => {
    const temporary = ".haft-0123456789abcdef-0.tmp"
    const root = workspaces.make({ [temporary]: "half", "a.txt": "a" })
    mkdirSync(`${root}.state/commits`, { recursive: true })
    const record = JSON.stringify({ id: "0123456789abcdef", temporaries: [temporary, "a.txt"] })
    writeFileSync(`${root}.state/commits/dead.sweep`, `${record}\nof a longer record before`)
    writeFileSync(`${root}.state/commits/idle.sweep`, `\n${record}\n`)
    writeFileSync(`${root}.state/commits/short.sweep`, record.slice(0, 30))
    await inWorkspace(root, () => Effect.void)
    expect(contentsOf(root)).toEqual({ "a.txt": "a" })
    expect(leftovers(root)).toEqual([])
  })

  it("stops for an interruption before it is decided, and leaves nothing", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    const before = contentsOf(root)
    const content = [bytes("x".repeat(1000))]
    const changes = Array.from({ length: 3000 }, (_, index): Change => ({ kind: "write", path: `f${index}`, content }))
    const result = await inWorkspace(root, (workspace) =>
      workspace.commit(changes).pipe(Effect.timeoutOption("30 millis"))
    )
    expect(result._tag).toBe("None")
    expect(contentsOf(root)).toEqual(before)
    expect(leftovers(root)).toEqual([])
    expect(await inWorkspace(root, (workspace) => outcome(workspace.undo()))).toBe("no_history")
  })

  it("takes over the commit lock of a dead process, and waits for a living one", async () => {
    const root = workspaces.make({ "a.txt": "a" })
    mkdirSync(`${root}.state/turn`, { recursive: true })
    for (const name of ["999999999.1.gone", "999999998.1.gone"]) writeFileSync(`${root}.state/turn/${name}`, "")
    expect(await commit(root, [write("a.txt", "b")])).toHaveLength(1)
    expect(readdirSync(`${root}.state/turn`)).toEqual(["nobody"])
    const both = await Promise.all([
      commit(
        root,
        Array.from({ length: 50 }, (_, index) => write(`x${index}`, "1"))
      ),
      commit(
        root,
        Array.from({ length: 50 }, (_, index) => write(`y${index}`, "1"))
      )
    ])
    expect(both.map((changed) => changed.length)).toEqual([50, 50])
  })

  it("refuses a link that leads out, however it is put there", async () => {
    const outside = workspaces.make({ "secret.txt": "s" })
    const root = workspaces.make({ "d/a": "a" }, (root) => symlinkSync(outside, join(root, "out")))
    for (const change of [
      write("out/new", "x"),
      write("out/secret.txt", "x"),
      { kind: "delete", path: "out/secret.txt" },
      { kind: "move", from: "out/secret.txt", to: "here" },
      { kind: "move", from: "d/a", to: "out/a" },
      { kind: "create_directory", path: "out/d" }
    ] as ReadonlyArray<Change>) {
      const result = await inWorkspace(root, (workspace) => Effect.flip(workspace.commit([change])))
      expect(isToolError(result) && result.code).toBe("path_outside_workspace")
    }
    expect(contentsOf(outside)).toEqual({ "secret.txt": "s" })
  })
})

describe("undo of symbolic links", () => {
  const undone = (root: string) => inWorkspace(root, (workspace) => outcome(workspace.undo()))
  const retarget = (path: string, target: string): void => {
    rmSync(path)
    symlinkSync(target, path)
  }

  it("leaves a link that leads elsewhere since the call", async () => {
    const root = workspaces.make({ a: "A", b: "B" })
    await commit(root, [{ kind: "symlink", path: "l", target: "a" }])
    retarget(join(root, "l"), "b")
    expect(await undone(root)).toBe("stale_file")
    expect(readlinkSync(join(root, "l"))).toBe("b")
    retarget(join(root, "l"), "a")
    expect(await undone(root)).toMatchObject({ paths: ["l"] })
    expect(readdirSync(root)).toEqual(["a", "b"])
  })

  it("leaves a moved link that leads elsewhere since the call", async () => {
    const root = workspaces.make({ a: "A", b: "B" }, (made) => symlinkSync("a", join(made, "l")))
    await commit(root, [{ kind: "move", from: "l", to: "m" }])
    retarget(join(root, "m"), "b")
    expect(await undone(root)).toBe("stale_file")
    retarget(join(root, "m"), "a")
    expect(await undone(root)).toMatchObject({ paths: ["l", "m"] })
    expect(readlinkSync(join(root, "l"))).toBe("a")
  })
})
