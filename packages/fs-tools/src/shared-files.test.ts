import { linkSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { Approver } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { openTools } from "../test/open-tools.ts"

/** Allows every call without asking anybody, as `--approve all` does. */
const approver = {
  questions: [],
  layer: Layer.succeed(Approver, {
    judge: () => Effect.succeed({ decision: "allow", reason: "all is allowed" } as const),
    ask: () => Effect.succeed({ approved: false })
  })
}

const lines = (count: number): string => Array.from({ length: count }, (_, line) => `line ${line}\n`).join("")

describe("two hosts on one workspace", () => {
  it("make edits that fit beside each other, instead of failing with stale_file", { timeout: 60_000 }, async () => {
    await using one = await openTools({ "a.txt": lines(60) }, { approver })
    await using other = await openTools({}, { workspace: one.workspace, approver })
    const edit = (line: number) =>
      (line % 2 === 0 ? one : other).call("edit_file", {
        path: "a.txt",
        edits: [{ find: `line ${line}\n`, replace: `changed ${line}\n` }]
      })
    const replies = await Promise.all(Array.from({ length: 60 }, (_, line) => edit(line)))
    expect(replies.filter((reply) => !(reply as { ok: boolean }).ok)).toEqual([])
    expect(one.workspace.read("a.txt")).toBe(lines(60).replaceAll("line", "changed"))
  })

  it("refuse an edit whose text the other one has changed", async () => {
    await using one = await openTools({ "a.txt": "text\n" }, { approver })
    await using other = await openTools({}, { workspace: one.workspace, approver })
    const edit = (tools: typeof one, replace: string) =>
      tools.call("edit_file", { path: "a.txt", edits: [{ find: "text", replace }] })
    const replies = await Promise.all([edit(one, "1"), edit(other, "2")])
    expect(replies.filter((reply) => (reply as { ok: boolean }).ok)).toHaveLength(1)
    expect(["1\n", "2\n"]).toContain(one.workspace.read("a.txt"))
  })

  it("hold to the fingerprint that the caller read", async () => {
    await using tools = await openTools({ "a.txt": "one\ntwo\n" })
    const { result } = (await tools.call("read_file", { path: "a.txt" })) as { result: { fingerprint: string } }
    writeFileSync(join(tools.workspace.root, "a.txt"), "one\ntwo\nthree\n")
    const params = { path: "a.txt", edits: [{ find: "one", replace: "1" }], expected_fingerprint: result.fingerprint }
    expect(await tools.call("edit_file", params)).toMatchObject({ ok: false, error: { code: "stale_file" } })
  })
})

describe("a file with a second name outside the workspace", () => {
  const calls = [
    ["write_file", { path: "a.txt", content: "new\n" }],
    ["edit_file", { path: "a.txt", edits: [{ find: "old", replace: "new" }] }],
    ["apply_patch", { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n" }]
  ] as const
  it.each(calls)("keeps its content there when %s changes it, and the reply says so", async (tool, params) => {
    await using tools = await openTools({ "a.txt": "old\n" })
    const outside = join(tools.workspace.root, "..", "outside.txt")
    linkSync(join(tools.workspace.root, "a.txt"), outside)
    expect(await tools.call(tool, params)).toMatchObject({
      ok: true,
      result: { warnings: ["a.txt was a hard link: its 1 other name keeps the old content"] }
    })
    expect([readFileSync(outside, "utf8"), tools.workspace.read("a.txt")]).toEqual(["old\n", "new\n"])
  })
})

it("apply_patch refuses copies that add up to more than is planned at once", { timeout: 60_000 }, async () => {
  await using tools = await openTools({ "large.txt": `${"x".repeat(9_000_000)}\n` })
  const copies = Array.from(
    { length: 300 },
    (_, copy) => `diff --git a/large.txt b/c${copy}\nsimilarity index 100%\ncopy from large.txt\ncopy to c${copy}\n`
  )
  const before = process.memoryUsage().rss
  expect(await tools.call("apply_patch", { patch: copies.join("") })).toMatchObject({
    ok: false,
    error: { code: "file_too_large" }
  })
  expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
  expect(await tools.call("list_dir", { path: "." })).toMatchObject({ result: { entries: [{ path: "large.txt" }] } })
})
