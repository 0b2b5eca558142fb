import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"

import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { bundleProgram } from "../../test/bundle.ts"
import { contentsOf, inWorkspace, makeWorkspaces } from "../../test/workspaces.ts"

const workspaces = makeWorkspaces("limits")
const program = join(workspaces.base, "child.mjs")
const nobody = 65_534
const namespace = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"]
const canMount =
  spawnSync("unshare", [...namespace, "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0

beforeAll(async () => {
  chmodSync(workspaces.base, 0o755)
  await bundleProgram("limits-child.ts", program)
})
afterAll(workspaces.remove)

/** Runs as somebody whom permissions stop: as nobody, when the tests run as root. */
const run = (root: string, told: ReadonlyArray<unknown>, shell = ""): unknown => {
  const isRoot = process.getuid?.() === 0
  const state = `${root}.state`
  mkdirSync(state, { recursive: true })
  if (isRoot) for (const path of [root, state]) chownSync(path, nobody, nobody)
  const script = `${shell} exec "$0" "$@"`
  const args = ["-c", script, process.execPath, program, root, state, JSON.stringify(told)]
  const options = { encoding: "utf8" as const, ...(isRoot && { uid: nobody, gid: nobody }) }
  return JSON.parse(execFileSync("sh", args, options))
}
const giveAway = (root: string): void => {
  if (process.getuid?.() !== 0) return
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    chownSync(join(entry.parentPath, entry.name), nobody, nobody)
  }
}

describe.skipIf(process.platform === "win32")("what the machine does not allow (POSIX permissions)", () => {
  it("is permission_denied, and changes nothing", () => {
    const root = workspaces.make(
      { "closed/in": "x", "fixed/in": "x", "locked.txt": "x", "hidden.txt": "x", "tree/fixed/in": "x" },
      (root) => {
        giveAway(root)
        chmodSync(join(root, "locked.txt"), 0o444)
        chmodSync(join(root, "hidden.txt"), 0o000)
        chmodSync(join(root, "fixed"), 0o555)
        chmodSync(join(root, "tree/fixed"), 0o555)
        chmodSync(join(root, "closed"), 0o000)
      }
    )
    const denied = (path: string) => `permission_denied: the permissions of ${path} do not allow this`
    expect(
      run(root, [
        { read: "hidden.txt" },
        { read: "closed/in" },
        { list: "closed" },
        { kind: "write", path: "locked.txt" },
        { kind: "write", path: "fixed/new" },
        { kind: "write", path: "fixed/in", size: 2 },
        { kind: "delete", path: "fixed/in" },
        { kind: "delete", path: "tree", recursive: true },
        { kind: "create_directory", path: "fixed/d" },
        { kind: "move", from: "fixed/in", to: "out" },
        { kind: "move", from: "locked.txt", to: "fixed/locked.txt" },
        { read: "locked.txt" }
      ])
    ).toEqual([
      denied("hidden.txt"),
      denied("closed/in"),
      denied("closed"),
      denied("locked.txt"),
      denied("fixed/new"),
      denied("fixed/in"),
      denied("fixed/in"),
      denied("tree"),
      denied("fixed/d"),
      denied("fixed/in"),
      denied("fixed/locked.txt"),
      "x"
    ])
    for (const path of ["closed", "fixed", "tree/fixed"]) chmodSync(join(root, path), 0o755)
    chmodSync(join(root, "hidden.txt"), 0o644)
    expect(Object.keys(contentsOf(root)).toSorted()).toEqual([
      "closed",
      "closed/in",
      "fixed",
      "fixed/in",
      "hidden.txt",
      "locked.txt",
      "tree",
      "tree/fixed",
      "tree/fixed/in"
    ])
  })

  it("is done and taken back once, also where a temporary name can't be removed", async () => {
    const make = () => workspaces.make({ "fixed/x": "x", "a.txt": "a" }, giveAway)
    const givenUp = make()
    const all = [
      { kind: "create_directory", path: "new" },
      { kind: "write", path: "a.txt", size: 2 },
      { kind: "write", path: "fixed/x", size: 2 }
    ]
    expect(
      run(givenUp, [
        { close: "fixed", at: "decided" },
        { all },
        { kind: "create_directory", path: "new" },
        { kind: "write", path: "a.txt", size: 3 },
        { kind: "write", path: "b.txt" },
        { list: "new" },
        { read: "a.txt" }
      ])
    ).toEqual([
      null,
      "permission_denied: the permissions of fixed/x do not allow this",
      ["new created"],
      ["a.txt modified"],
      ["b.txt created"],
      0,
      "xxx"
    ])
    const made = make()
    expect(
      run(made, [
        { close: "fixed", at: "set_aside" },
        {
          all: [
            { kind: "delete", path: "fixed/x" },
            { kind: "move", from: "a.txt", to: "b.txt" }
          ]
        },
        { rename: "b.txt", to: "a.txt" },
        { kind: "write", path: "c.txt" },
        { read: "a.txt" }
      ])
    ).toEqual([null, ["fixed/x deleted", "a.txt moved"], null, ["c.txt created"], "a"])
    for (const root of [givenUp, made]) {
      chmodSync(join(root, "fixed"), 0o755)
      await inWorkspace(root, () => Effect.void)
      expect(readdirSync(`${root}.state/commits`)).toEqual([])
      expect(readdirSync(join(root, "fixed"))).toEqual(root === made ? [] : ["x"])
    }
  })

  it("is write_failed when there is no room, and leaves nothing behind", () => {
    const root = workspaces.make({ "a.txt": "old" }, giveAway)
    const told = [
      { kind: "write", path: "a.txt", size: 100_000 },
      { kind: "write", path: "new.txt", size: 100_000 },
      { kind: "write", path: "small.txt", size: 10 }
    ]
    expect(run(root, told, "trap '' XFSZ; ulimit -f 20;")).toEqual([
      "write_failed: a.txt could not be written: it is larger than a file may be here; nothing was changed",
      "write_failed: new.txt could not be written: it is larger than a file may be here; nothing was changed",
      ["small.txt created"]
    ])
    expect(contentsOf(root)).toEqual({ "a.txt": "old", "small.txt": "xxxxxxxxxx" })
    expect(readdirSync(`${root}.state/commits`)).toEqual([])
  })

  describe.skipIf(!canMount)("on a disk that is full (needs `unshare --mount` to make a small one)", () => {
    /** A disk of 64 KiB, in a namespace of its own: it goes with the process. */
    const onSmallDisk = (at: string, root: string, told: ReadonlyArray<unknown>): unknown => {
      mkdirSync(`${root}.state`, { recursive: true })
      const fill = at === root ? 'printf old > "$3/a.txt";' : ""
      const script = `mount -t tmpfs -o size=64k none "$1" && shift && ${fill} exec "$@"`
      const args = [process.execPath, program, root, `${root}.state`, JSON.stringify(told)]
      return JSON.parse(
        execFileSync("unshare", [...namespace, "sh", "-c", script, "sh", at, ...args], { encoding: "utf8" })
      )
    }

    it("changes nothing when a file does not fit into the workspace", () => {
      const root = workspaces.make({})
      expect(
        onSmallDisk(root, root, [
          { kind: "write", path: "a.txt", size: 200_000 },
          { kind: "write", path: "d/new.txt", size: 200_000, createDirectories: true },
          { read: "a.txt" },
          { list: "." },
          { kind: "write", path: "small.txt", size: 10 }
        ])
      ).toEqual([
        "write_failed: a.txt could not be written: the disk is full; nothing was changed",
        "write_failed: d/new.txt could not be written: the disk is full; nothing was changed",
        "old",
        1,
        ["small.txt created"]
      ])
    })

    it("changes nothing when what was there can't be kept for undoing", () => {
      const root = workspaces.make({ "a.txt": "old".repeat(50_000), "b.txt": "old" })
      expect(
        onSmallDisk(`${root}.state`, root, [
          { kind: "write", path: "a.txt", size: 10 },
          { kind: "delete", path: "a.txt" },
          { kind: "write", path: "b.txt", size: 3 }
        ])
      ).toEqual([
        "write_failed: the state directory could not be written: the disk is full; nothing was changed",
        "write_failed: the state directory could not be written: the disk is full; nothing was changed",
        ["b.txt modified"]
      ])
      expect(contentsOf(root)).toEqual({ "a.txt": "old".repeat(50_000), "b.txt": "xxx" })
    })

    it("tidies up after a host that died, where what it linked does not fit twice", () => {
      const root = join(workspaces.make({ "w/x": "" }), "w")
      const image = createHash("sha256").update("x".repeat(40_000)).digest("hex")
      const did = [{ did: "write", path: "a.txt", before: { state: `sha256:${image}`, mode: 420 }, after: "sha256:0" }]
      const entry = JSON.stringify({ id: "0123456789abcdef", call: "c", run: "r", tool: "t", at: 0, did })
      const crash = [
        'mkdir -p "$3" "$4/commits" "$4/history/images"',
        "head -c 40000 /dev/zero | tr '\\0' x > \"$3/a.txt\"",
        `ln "$3/a.txt" "$4/history/images/${image}"`,
        `echo '${entry}' > "$4/history/entries.jsonl"`,
        `echo '{"id":"0123456789abcdef","temporaries":[]}' > "$4/commits/dead.sweep"`
      ].join(" && ")
      const script = `mount -t tmpfs -o size=64k none "$1" && shift && ${crash} && exec "$@"`
      const told = JSON.stringify([{ kind: "write", path: "b.txt" }, { undo: true }, { undo: true }])
      const args = [process.execPath, program, root, `${root}.state`, told]
      const replies = execFileSync("unshare", [...namespace, "sh", "-c", script, "sh", dirname(root), ...args], {
        encoding: "utf8"
      })
      expect(JSON.parse(replies)).toEqual([["b.txt created"], ["b.txt"], expect.stringMatching(/^no_history: /)])
    })

    it("releases the commit lock and adds no undo history for a failed change", () => {
      const root = workspaces.make({})
      const state = `${root}.state`
      // Its entry in the history takes one block more, and its journal another.
      const deep = Array.from({ length: 25 }, (_, index) => `directory-${index}`).join("/")
      const full = "write_failed: the state directory could not be written: the disk is full; nothing was changed"
      expect(
        onSmallDisk(state, root, [
          { kind: "write", path: "first.txt" },
          { fill: state, leave: 0 },
          { kind: "write", path: `${deep}/no-entry.txt`, createDirectories: true },
          { undo: true },
          { empty: state },
          { fill: state, leave: 1 },
          { kind: "write", path: `${deep}/no-journal.txt`, createDirectories: true },
          { empty: state },
          { undo: true }
        ])
      ).toEqual([["first.txt created"], 0, full, full, null, 1, full, null, ["first.txt"]])
      expect(contentsOf(root)).toEqual({})
    })
  })

  it.skipIf(!canMount).each([
    ["to another disk", 'mount -t tmpfs none "$1"'],
    ["to another mount of the same disk", 'mount --bind "$1" "$1"']
  ])("moves %s, also into directories that are made for it, and back", (_title, mount) => {
    const root = workspaces.make({ "disk/x": "", "a.txt": "a", "tree/run.sh": "run" })
    mkdirSync(`${root}.state`, { recursive: true })
    const told = [
      { kind: "move", from: "a.txt", to: "disk/new/deep/a.txt", createDirectories: true },
      { kind: "move", from: "tree", to: "disk/new/tree", createDirectories: true },
      { read: "disk/new/deep/a.txt" },
      { read: "disk/new/tree/run.sh" },
      { kind: "move", from: "disk", to: "elsewhere" },
      { undo: true },
      { list: "disk/new" }
    ]
    const script = `${mount} && shift && exec "$@"`
    const args = [process.execPath, program, root, `${root}.state`, JSON.stringify(told)]
    const replies = execFileSync("unshare", [...namespace, "sh", "-c", script, "sh", join(root, "disk"), ...args], {
      encoding: "utf8"
    })
    expect(JSON.parse(replies)).toEqual([
      ["disk/new created", "disk/new/deep created", "a.txt moved"],
      ["tree moved"],
      "a",
      "run",
      "write_failed: disk could not be written: a disk is mounted there, or something else holds it; nothing was changed",
      ["tree", "disk/new/tree", "a.txt", "disk/new/deep/a.txt", "disk/new/deep", "disk/new"],
      "file_not_found: disk/new does not exist"
    ])
    expect(contentsOf(root)).toEqual({
      disk: null,
      "disk/x": "",
      "a.txt": "a",
      tree: null,
      "tree/run.sh": "run"
    })
    expect(readdirSync(`${root}.state/commits`)).toEqual([])
  })

  it.skipIf(!canMount)("is permission_denied on a disk that can't be changed, and the next call goes on", () => {
    const root = workspaces.make({ "disk/x": "" })
    mkdirSync(`${root}.state`, { recursive: true })
    const script = 'mount -t tmpfs -o ro none "$1" && shift && exec "$@"'
    const told = [
      { kind: "write", path: "disk/new.txt", size: 10 },
      { kind: "write", path: "small.txt", size: 10 },
      { kind: "move", from: "small.txt", to: "disk/small.txt" }
    ]
    const args = [process.execPath, program, root, `${root}.state`, JSON.stringify(told)]
    const replies = execFileSync("unshare", [...namespace, "sh", "-c", script, "sh", join(root, "disk"), ...args], {
      encoding: "utf8"
    })
    expect(JSON.parse(replies)).toEqual([
      "permission_denied: disk/new.txt is on a read-only file system",
      ["small.txt created"],
      "permission_denied: disk/small.txt is on a read-only file system"
    ])
    expect(readdirSync(`${root}.state/commits`)).toEqual([])
  })

  it("keeps state to its owner", () => {
    const root = workspaces.make({ "a.txt": "old" }, giveAway)
    run(root, [{ kind: "write", path: "a.txt" }])
    expect(statSync(`${root}.state`).mode & 0o777).toBe(0o700)
  })
})
