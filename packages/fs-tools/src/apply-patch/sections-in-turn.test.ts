import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools, type OpenTools } from "../../test/open-tools.ts"

type Files = ReadonlyMap<string, string>

const paths = ["a", "b", "c", "d/e"] as const
const path = fc.constantFrom(...paths)
const section = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), path }),
  fc.record({ kind: fc.constant("delete" as const), path }),
  fc.record({ kind: fc.constant("update" as const), path }),
  fc.record({ kind: fc.constant("move" as const), path, to: path }),
  fc.record({ kind: fc.constant("move and update" as const), path, to: path })
)
type Planned = typeof section extends fc.Arbitrary<infer A> ? A : never

/** Result of a section on the files, and its spelling in a patch; undefined when it does not fit. */
const step = (files: Files, one: Planned, number: number): { files: Files; text: string } | undefined => {
  const now = new Map(files)
  const content = now.get(one.path)
  if (one.kind === "add") {
    if (content !== undefined) return undefined
    return { files: now.set(one.path, `new ${number}`), text: `*** Add File: ${one.path}\n+new ${number}\n` }
  }
  if (content === undefined) return undefined
  now.delete(one.path)
  if (one.kind === "delete") return { files: now, text: `*** Delete File: ${one.path}\n` }
  const to = one.kind === "update" ? one.path : one.to
  if (now.has(to)) return undefined
  const moved = one.kind === "update" ? "" : `*** Move to: ${to}\n`
  if (one.kind === "move") return { files: now.set(to, content), text: `*** Update File: ${one.path}\n${moved}` }
  const text = `*** Update File: ${one.path}\n${moved}@@\n-${content}\n+edited ${number}\n`
  return { files: now.set(to, `edited ${number}`), text }
}

const filesIn = (tools: OpenTools): Files =>
  new Map(
    readdirSync(tools.workspace.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const full = join(entry.parentPath, entry.name)
        return [full.slice(tools.workspace.root.length + 1), readFileSync(full, "utf8").trimEnd()] as const
      })
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  )

const sorted = (files: Files): Files => new Map([...files].toSorted(([one], [other]) => (one < other ? -1 : 1)))

describe("sections that touch the same paths in turn", () => {
  it("come to what they say one after the other, and are undone as one", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(section, { minLength: 1, maxLength: 7 }), async (sections) => {
        const before: Files = new Map([
          ["a", "A"],
          ["b", "B"],
          ["d/e", "E"]
        ])
        let files = before
        let patch = "*** Begin Patch\n"
        for (const [number, one] of sections.entries()) {
          const next = step(files, one, number)
          if (next === undefined) continue
          files = next.files
          patch += next.text
        }
        if (patch === "*** Begin Patch\n") return
        await using tools = await openTools({ a: "A\n", b: "B\n", "d/e": "E\n" })
        const reply = await tools.call("apply_patch", { patch: `${patch}*** End Patch\n` })
        expect(reply).toMatchObject({ ok: true })
        expect(filesIn(tools)).toEqual(sorted(files))
        const { result } = reply as { result: { changed: boolean } }
        if (!result.changed) return
        expect(await tools.call("undo", {})).toMatchObject({ ok: true })
        expect(filesIn(tools)).toEqual(sorted(before))
      }),
      { numRuns: process.env["HAFT_LONG"] === "1" ? 5000 : 150, seed: 1 }
    )
  })

  it("take links for what they are when they go or move, and leave alone what they lead to", async () => {
    const files = { "t.txt": "hello\n", l: { symlink: "t.txt" }, k: { symlink: "t.txt" } } as const
    await using tools = await openTools(files)
    const patch =
      "*** Begin Patch\n*** Delete File: l\n*** Update File: k\n*** Move to: m\n*** Add File: l\n+new\n*** End Patch"
    expect(await tools.call("apply_patch", { patch })).toMatchObject({
      ok: true,
      result: {
        files: [
          { path: "l", change: "modified" },
          { path: "k", change: "moved", moved_to: "m" }
        ]
      }
    })
    expect(filesIn(tools)).toEqual(
      new Map([
        ["l", "new"],
        ["t.txt", "hello"]
      ])
    )
    expect(readlinkSync(join(tools.workspace.root, "m"))).toBe("t.txt")
    await tools.call("undo", {})
    expect(readlinkSync(join(tools.workspace.root, "l"))).toBe("t.txt")
    expect(readlinkSync(join(tools.workspace.root, "k"))).toBe("t.txt")
  })

  it.each([
    ["is not there", "--- a/missing\n+++ b/missing\n@@ -1 +1 @@\n-x\n+y\n", "file_not_found"],
    ["is a directory", "--- a/d\n+++ b/d\n@@ -1 +1 @@\n-x\n+y\n", "is_directory"],
    ["lies below a file", "--- /dev/null\n+++ b/a/b\n@@ -0,0 +1 @@\n+y\n", "not_a_directory"]
  ])("says that nothing was changed when the second file %s", async (_title, second, code) => {
    await using tools = await openTools({ a: "1\n", "d/x": "" })
    const reply = await tools.call("apply_patch", { patch: `--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n${second}` })
    expect(reply).toMatchObject({ error: { code, message: expect.stringContaining("; nothing was changed") } })
    expect(tools.workspace.read("a")).toBe("1\n")
  })

  it("shows a link that goes, a mode that comes and a file that takes another's place", async () => {
    const link = { symlink: "a.txt" } as const
    await using tools = await openTools({ "a.txt": "one\n", "b.txt": "two\n", l: link })
    const shown = async (patch: string) => (await tools.host.preview("apply_patch", { patch })).diff
    expect(await shown("*** Begin Patch\n*** Delete File: l\n*** End Patch")).toBe("deleted l\n")
    expect(
      await shown("*** Begin Patch\n*** Delete File: b.txt\n*** Update File: a.txt\n*** Move to: b.txt\n*** End Patch")
    ).toBe("--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\nrename from a.txt\nrename to b.txt\n")
    expect(await shown("diff --git a/s b/s\nnew file mode 100755\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+x\n")).toBe(
      "new file mode 100755\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+x\n"
    )
  })

  it("copies a file that is no text", async () => {
    await using tools = await openTools({ "a.bin": Buffer.from([0, 1, 2]) })
    const patch = "diff --git a/a.bin b/b.bin\nsimilarity index 100%\ncopy from a.bin\ncopy to b.bin\n"
    expect(await tools.call("apply_patch", { patch })).toMatchObject({ ok: true })
    expect(readFileSync(join(tools.workspace.root, "b.bin"))).toEqual(Buffer.from([0, 1, 2]))
  })

  it("refuses a mode for a file that is not there", async () => {
    await using tools = await openTools({})
    const patch = "diff --git a/no b/no\nold mode 100644\nnew mode 100755\n"
    expect(await tools.call("apply_patch", { patch })).toMatchObject({ error: { code: "file_not_found" } })
  })
})
