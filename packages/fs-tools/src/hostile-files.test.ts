import { execFileSync } from "node:child_process"
import { chmodSync, readdirSync, readlinkSync, symlinkSync } from "node:fs"
import { join } from "node:path"

import { cliagent, haft } from "@haft/dialects"
import { describe, expect, it } from "vitest"

import { openTools } from "../test/open-tools.ts"

const isRoot = process.getuid?.() === 0
const isWindows = process.platform === "win32"

describe("files that are not what they should be", () => {
  it.skipIf(isWindows)("does not open a FIFO, whatever the tool (not on this platform)", async () => {
    await using tools = await openTools()
    execFileSync("mkfifo", [join(tools.workspace.root, "pipe")])
    const code = async (tool: string, params: object) =>
      ((await tools.call(tool, params)) as { error?: { code: string } }).error?.code
    expect(await code("edit_file", { path: "pipe", edits: [{ find: "a", replace: "b" }] })).toBe("not_a_regular_file")
    expect(await code("write_file", { path: "pipe", content: "x" })).toBe("not_a_regular_file")
    expect(await code("apply_patch", { patch: "--- a/pipe\n+++ b/pipe\n@@ -1 +1 @@\n-a\n+b\n" })).toBe(
      "not_a_regular_file"
    )
    expect(await code("list_dir", {})).toBeUndefined()
    expect(await code("delete_path", { path: "pipe" })).toBeUndefined()
  })

  it("refuses more than ten megabytes for a new file of the cliagent contract, and takes exactly ten", async () => {
    await using tools = await openTools({}, { dialect: cliagent })
    const size = 10 * 1024 * 1024
    expect(await tools.call("create_file", { path: "a", content: "x".repeat(size + 1) })).toMatchObject({
      success: false,
      output: "Error: Content for 'a' is larger than 10MB",
      error: { code: "file_too_large" }
    })
    expect(tools.workspace.exists("a")).toBe(false)
    expect(await tools.call("create_file", { path: "a", content: "x".repeat(size) })).toMatchObject({ success: true })
  })

  it.skipIf(isRoot || isWindows)("says that a directory is read-only (not on this platform)", async () => {
    await using tools = await openTools({ "d/a": "1\n" })
    chmodSync(join(tools.workspace.root, "d"), 0o500)
    expect(await tools.call("write_file", { path: "d/b", content: "x" })).toMatchObject({
      error: { code: "permission_denied" }
    })
    chmodSync(join(tools.workspace.root, "d"), 0o700)
  })

  it("edits a very long line and a file of very many lines", async () => {
    await using tools = await openTools({
      long: `${"x".repeat(1_000_000)}HERE${"y".repeat(1_000_000)}`,
      many: { repeat: "line {n}\n", times: 200_000 }
    })
    expect(await tools.call("edit_file", { path: "long", edits: [{ find: "HERE", replace: "" }] })).toMatchObject({
      ok: true
    })
    expect(tools.workspace.bytes("long").length).toBe(2_000_000)
    expect(
      await tools.call("edit_file", { path: "many", edits: [{ find: "line 150000\n", replace: "changed\n" }] })
    ).toMatchObject({
      ok: true,
      result: { lines: [{ start: 150_000, end: 150_000 }] }
    })
  })
})

describe.skipIf(isWindows)("links that can't be followed (not on this platform)", () => {
  const targets = [
    ["leads out", "/etc/passwd"],
    ["leads nowhere", "missing"],
    ["leads to itself", "link"]
  ] as const

  it.each(targets)("goes itself when it %s, and undo brings it back", async (_title, target) => {
    await using tools = await openTools({ a: "1\n" })
    const { root } = tools.workspace
    symlinkSync(target, join(root, "link"))
    const { diff } = await tools.host.preview("delete_path", { path: "link" })
    expect(diff).toBe("deleted link\n")
    expect(await tools.call("delete_path", { path: "link" })).toMatchObject({ ok: true, result: { deleted: ["link"] } })
    expect(readdirSync(root)).toEqual(["a"])
    expect(await tools.call("undo", {})).toMatchObject({ ok: true })
    expect(readlinkSync(join(root, "link"))).toBe(target)
  })

  it.each(targets)("moves and is replaced when it %s", async (_title, target) => {
    await using tools = await openTools({ a: "1\n" })
    const { root } = tools.workspace
    symlinkSync(target, join(root, "link"))
    expect(await tools.call("move_path", { from: "link", to: "other" })).toMatchObject({ ok: true })
    expect(readlinkSync(join(root, "other"))).toBe(target)
    const move = { from: "a", to: "other", overwrite: true }
    expect((await tools.host.preview("move_path", move)).diff).toBe("deleted other\nrename from a\nrename to other\n")
    expect(await tools.call("move_path", move)).toMatchObject({ ok: true })
    expect(tools.workspace.read("other")).toBe("1\n")
  })

  it.each(targets)("is still not written or read through when it %s", async (_title, target) => {
    await using tools = await openTools()
    symlinkSync(target, join(tools.workspace.root, "link"))
    expect(await tools.call("read_file", { path: "link" })).toMatchObject({ ok: false })
    expect(await tools.call("delete_path", { path: "link/x" })).toMatchObject({ ok: false })
    expect(readlinkSync(join(tools.workspace.root, "link"))).toBe(target)
  })

  it("stays where links are denied", async () => {
    await using tools = await openTools({}, { dialect: { ...haft, symlinks: "deny" } })
    symlinkSync("/etc/passwd", join(tools.workspace.root, "link"))
    expect(await tools.call("delete_path", { path: "link" })).toMatchObject({ error: { code: "symlink_blocked" } })
    expect(readlinkSync(join(tools.workspace.root, "link"))).toBe("/etc/passwd")
  })
})

describe("texts that repeat themselves", () => {
  const megabyte = 1_000_000
  const lines = (line: string, times: number, last: string): string => line.repeat(times) + last
  const failed = (code: string) => ({ ok: false, error: { code } })

  it.each([
    ["spaces before a newline that never comes", " ".repeat(megabyte), "\nx"],
    ["one character", "a".repeat(megabyte), `${"a".repeat(megabyte / 2)}b`],
    ["lines that fit everywhere but at their end", lines("line\n", megabyte / 5, ""), lines("line\n", 5000, "other")],
    ["lines with another indentation", lines("  a\n", megabyte / 4, ""), lines("a\n", 50_000, "b")],
    ["blank lines", "\t\n".repeat(megabyte / 2), "  \n\n q"]
  ])("are searched in time that grows with their size: %s", async (_title, text, find) => {
    await using tools = await openTools({ f: text })
    const old = find.split("\n").map((line) => `-${line}`)
    const hunk = [`@@ -1,${old.length} +1 @@`, ...old, "+x"].join("\n")
    expect(await tools.call("edit_file", { path: "f", edits: [{ find, replace: "x" }] })).toMatchObject(
      failed("match_not_found")
    )
    expect(await tools.call("apply_patch", { patch: `--- a/f\n+++ b/f\n${hunk}\n` })).toMatchObject(
      failed("patch_hunk_failed")
    )
    const envelope = ["*** Begin Patch", "*** Update File: f", "@@", ...old, "+x", "*** End Patch", ""].join("\n")
    expect(await tools.call("apply_patch", { patch: envelope })).toMatchObject(failed("patch_hunk_failed"))
    expect(await tools.call("write_file", { path: "g", content: text })).toMatchObject({ ok: true })
  })

  it("replaces a text of a hundred kilobytes whose newlines are not the file's", async () => {
    const block = Array.from({ length: 10_000 }, (_, index) => `line ${index}`)
    await using tools = await openTools({ f: ["first", ...block, "last", ""].join("\r\n") })
    const edits = [{ find: block.join("\n"), replace: "one\ntwo" }]
    expect(await tools.call("edit_file", { path: "f", edits })).toMatchObject({ ok: true })
    expect(tools.workspace.read("f")).toBe("first\r\none\r\ntwo\r\nlast\r\n")
  })

  it("does not take spaces alone for a text that stands everywhere", async () => {
    await using tools = await openTools({ f: "a\n\nb\n" })
    expect(await tools.call("edit_file", { path: "f", edits: [{ find: "   ", replace: "x" }] })).toMatchObject(
      failed("match_not_found")
    )
  })
})
