import { symlinkSync } from "node:fs"
import { homedir } from "node:os"

import { expect, it, onTestFinished } from "@effect/vitest"
import { Host, memoryArtifacts, memoryJournal, use, Workspace } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { nodeWorkspace } from "@haft/node"
import { type Fixture, scriptedApprover, temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { absolutePath, locate } from "./allowed-directories.ts"
import { mcpFilesystem, mcpFilesystemTools } from "./index.ts"

const open = async (fixtures: Readonly<Record<string, Fixture>>) => {
  const workspace = temporaryWorkspace(fixtures)
  const { root, state } = workspace
  const approver = scriptedApprover(() => ({ approved: false }))
  const services = Layer.mergeAll(
    nodeWorkspace({ root, state, durable: false }),
    memoryJournal(),
    memoryArtifacts(),
    approver.layer
  )
  const host = await openHost(
    Host.layer({ dialect: mcpFilesystem, plugins: [use(mcpFilesystemTools)] }).pipe(Layer.provide(services))
  )
  onTestFinished(() => host.dispose().finally(workspace.remove))
  return { workspace, host, approver }
}

const latin1 = Buffer.from("caf\u00E9\r\none\r\n", "latin1")

it("edit_file keeps the encoding and the line endings of a Latin-1 file", async () => {
  const { host, workspace } = await open({ "a.txt": latin1 })
  const edits = [{ oldText: "one", newText: "two" }]
  expect(await host.call("edit_file", { path: "a.txt", edits })).toMatchObject({ ok: true })
  expect(Buffer.from(workspace.bytes("a.txt")).toString("latin1")).toBe("caf\u00E9\r\ntwo\r\n")
})

it("edit_file indents further lines of a replacement as the server does", async () => {
  const { host, workspace } = await open({ "a.txt": "\tif (x) {\n\t\ty()\n\t}\n" })
  const edits = [{ oldText: "if (x) { \n    y()\n}", newText: "if (z) {\n      y()\nelse\n}" }]
  expect(await host.call("edit_file", { path: "a.txt", edits })).toMatchObject({ ok: true })
  expect(workspace.read("a.txt")).toMatch(/^\tif \(z\) \{\n/)
})

it.each([
  ["an empty text", { path: "a.txt", edits: [{ oldText: "", newText: "x" }] }, /edits/],
  ["lines that stand twice with other spacing", { path: "b.txt", edits: [{ oldText: " x ", newText: "y" }] }, /x/]
])("edit_file changes nothing for %s", async (_what, args, words) => {
  const { host, workspace } = await open({ "a.txt": "one\n", "b.txt": "  x\n   x\n" })
  const reply = await host.call("edit_file", args)
  expect(reply).toMatchObject({ ok: false, text: expect.stringMatching(words) as string })
  expect([workspace.read("a.txt"), workspace.read("b.txt")]).toEqual(["one\n", "  x\n   x\n"])
})

it("edit_file fences a diff that has fences in it", async () => {
  const { host } = await open({ "a.md": "```\nx\n```\n" })
  const { text } = await host.call("edit_file", { path: "a.md", edits: [{ oldText: "x", newText: "y" }] })
  expect(text).toMatch(/^````diff\n[^]*\n````\n\n$/)
})

it("a link that leads out is refused in the words of the server, and never read", async () => {
  const { host, workspace } = await open({ "a.txt": "one\n" })
  symlinkSync(workspace.outside, `${workspace.root}/out`)
  const reply = await host.call("read_text_file", { path: "out/x" })
  expect(reply.text).toMatch(/^Access denied - symlink target outside allowed directories: out\/x\n/)
  const several = await host.call("read_multiple_files", { paths: ["a.txt", "out/x", "/etc/passwd"] })
  expect(several.ok && several.text).toContain("/etc/passwd: Error - Access denied - path outside allowed directories:")
})

it("a path in the home directory and one of Windows are told apart from names in the workspace", async () => {
  const { host } = await open({})
  const home = await host.call("read_text_file", { path: "~/x" })
  expect(home.text).toContain(`path outside allowed directories: ${homedir()}/x not in`)
  const windows = await host.call("read_text_file", { path: String.raw`C:\x` })
  expect(windows.text).toContain("Access denied - Windows-style path received on a POSIX host")
})

it("only control files are asked about", async () => {
  const { host, approver } = await open({ "a.txt": "one\n", ".git/hooks/README": "" })
  expect(await host.call("write_file", { path: "a.txt", content: "two\n" })).toMatchObject({ ok: true })
  const hook = await host.call("write_file", { path: ".git/hooks/pre-commit", content: "x" })
  expect(hook.error?.code).toBe("approval_denied")
  expect(approver.questions).toHaveLength(1)
})

it("read_text_file takes a head and a tail beyond the file", async () => {
  const { host } = await open({ "a.txt": "one\ntwo", "empty.txt": "", "b.bin": Buffer.from([0, 1, 2]) })
  const read = async (args: object) => (await host.call("read_text_file", args)).text
  expect(await read({ path: "a.txt", head: 9 })).toBe("one\ntwo")
  expect(await read({ path: "a.txt", tail: 9 })).toBe("one\ntwo")
  expect(await read({ path: "a.txt", head: 0 })).toBe("one\ntwo")
  expect(await read({ path: "empty.txt", tail: 1 })).toBe("")
  expect(await read({ path: "b.bin" })).toContain("b.bin is not a text file")
})

it("list_directory_with_sizes shows sizes as the server does", async () => {
  const { host } = await open({ "a.bin": { repeat: "0123456789", times: 200_000 }, "empty.txt": "" })
  const { text } = await host.call("list_directory_with_sizes", { path: "." })
  expect(text).toBe(
    [
      `[FILE] ${"a.bin".padEnd(30)} ${"1.91 MB".padStart(10)}`,
      `[FILE] ${"empty.txt".padEnd(30)} ${"0 B".padStart(10)}`,
      "",
      "Total: 2 files, 0 directories",
      "Combined size: 1.91 MB"
    ].join("\n")
  )
})

const roots = [
  { name: "one", path: "/srv/one", access: "write" },
  { name: "two", path: "/srv/two", access: "read" }
] as const

it.each([
  ["/srv/two/a/b", { absolute: "/srv/two/a/b", path: "two/a/b" }],
  ["/srv/one", { absolute: "/srv/one", path: "one" }],
  ["a", { absolute: "/srv/one/a", path: "one/a" }],
  ["../two/a", { absolute: "/srv/two/a", path: "two/a" }]
])("%s lies in one of several allowed directories", async (given, expected) => {
  const workspace = { roots } as unknown as typeof Workspace.Service
  const located = await Effect.runPromise(Effect.provideService(locate(given), Workspace, workspace))
  expect(located).toEqual(expected)
  expect(absolutePath(roots, located.path)).toBe(located.absolute)
})
