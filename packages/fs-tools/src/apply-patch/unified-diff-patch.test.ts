import { chmodSync, statSync } from "node:fs"
import { join } from "node:path"

import type { Fixture } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

interface Result {
  readonly ok: boolean
  readonly result?: {
    readonly files: ReadonlyArray<object>
    readonly hunks: ReadonlyArray<object>
    readonly warnings: ReadonlyArray<string>
  }
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> }
}

const patch = async (files: Record<string, Fixture>, ...lines: ReadonlyArray<string>) => {
  const tools = await openTools(files)
  try {
    const reply = (await tools.call("apply_patch", { patch: `${lines.join("\n")}\n` })) as Result
    const read = (path: string) => (tools.workspace.exists(path) ? tools.workspace.bytes(path).toString() : null)
    const modeOf = (path: string) => statSync(join(tools.workspace.root, path)).mode & 0o777
    const paths = ["a.txt", "b.txt", "c.txt"]
    return {
      reply,
      error: reply.error,
      hunks: reply.result?.hunks,
      a: read("a.txt"),
      b: read("b.txt"),
      modes: paths.filter((path) => tools.workspace.exists(path)).map(modeOf)
    }
  } finally {
    await tools[Symbol.asyncDispose]()
  }
}

const head = (path: string) => [`--- a/${path}`, `+++ b/${path}`]

describe("unified diffs: a hunk far from its line", () => {
  const filler = (count: number) => "filler\n".repeat(count)

  it("goes to the only place where all its lines stand, however far", async () => {
    const { a, hunks, reply } = await patch(
      { "a.txt": `${filler(300)}one\nold\n${filler(400)}` },
      ...head("a.txt"),
      "@@ -100,2 +100,2 @@",
      " one",
      "-old",
      "+new"
    )
    expect(a).toBe(`${filler(300)}one\nnew\n${filler(400)}`)
    expect(hunks).toEqual([{ path: "a.txt", line: 302, matched: "exact", offset: 201, fuzz: 0 }])
    expect(reply.result?.warnings).toEqual([])
  })

  it("is refused where several places fit, and names them", async () => {
    const file = { "a.txt": `${filler(300)}old\n${filler(400)}old\n` }
    const { a, error } = await patch(file, ...head("a.txt"), "@@ -100 +100 @@", "-old", "+new")
    expect(error).toMatchObject({ code: "patch_hunk_failed", details: { lines: [301, 702] } })
    expect(a).toBe(file["a.txt"])
  })

  it("goes where the other hunks of the file point to, of several places that fit", async () => {
    const { a } = await patch(
      { "a.txt": `new\nnew\nsame\n${filler(3)}same\n${filler(3)}unique\n` },
      ...head("a.txt"),
      "@@ -5 +5 @@",
      "-same",
      "+changed",
      "@@ -9 +9 @@",
      "-unique",
      "+also changed"
    )
    expect(a).toBe(`new\nnew\nsame\n${filler(3)}changed\n${filler(3)}also changed\n`)
  })

  it("is found by how it looks when the file has other newlines, and only at the end if it says so", async () => {
    const file = { "a.txt": `${filler(200)}old\nold\n${filler(9)}old`.replaceAll("\n", "\r\n") }
    const anywhere = await patch(file, ...head("a.txt"), "@@ -1,2 +1 @@", "-old", "-old", "+new")
    expect(anywhere.a).toContain("filler\r\nnew\r\nfiller")
    const open = "\\ No newline at end of file"
    const end = await patch(file, ...head("a.txt"), "@@ -1 +1 @@", "-old", open, "+new", open)
    expect(end.a?.endsWith("filler\r\nnew")).toBe(true)
  })
})

describe("unified diffs: files", () => {
  it("changes, creates and deletes", async () => {
    const { reply, a, b } = await patch(
      { "a.txt": "one\n", "c.txt": "gone\n" },
      ...head("a.txt"),
      "@@ -1 +1 @@",
      "-one",
      "+1",
      "--- /dev/null\t1970-01-01",
      "+++ b/b.txt\t2024-01-01 00:00:00",
      "@@ -0,0 +1,2 @@",
      "+new",
      "+file",
      "\\ No newline at end of file",
      "--- a/c.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-gone"
    )
    expect([a, b]).toEqual(["1\n", "new\nfile"])
    expect(reply.result?.files).toMatchObject([
      { path: "a.txt", change: "modified" },
      { path: "b.txt", change: "created" },
      { path: "c.txt", change: "deleted" }
    ])
  })

  it("understands git's headers: renames with changes, modes and empty files", async () => {
    const { reply, b, modes } = await patch(
      { "a.txt": { text: "one\ntwo\n", mode: 0o755 }, "c.txt": "" },
      "diff --git a/a.txt b/b.txt",
      "similarity index 50%",
      "rename from a.txt",
      "rename to b.txt",
      "index 123..456 100755",
      "--- a/a.txt",
      "+++ b/b.txt",
      "@@ -1,2 +1,2 @@",
      " one",
      "-two",
      "+2",
      "diff --git a/c.txt b/c.txt",
      "deleted file mode 100644",
      "index e69de29..0000000"
    )
    expect(reply.result?.files).toMatchObject([
      { path: "a.txt", change: "moved", moved_to: "b.txt" },
      { path: "c.txt", change: "deleted" }
    ])
    expect([b, modes]).toEqual(["one\n2\n", [0o755]])
  })

  it("copies, creates an empty file, and sets the executable bit", async () => {
    const { b, modes } = await patch(
      { "a.txt": { text: "one\n", mode: 0o644 } },
      "diff --git a/a.txt b/b.txt",
      "similarity index 100%",
      "copy from a.txt",
      "copy to b.txt",
      "diff --git a/c.txt b/c.txt",
      "new file mode 100755",
      "index 0000000..e69de29"
    )
    expect([b, modes]).toEqual(["one\n", [0o644, 0o644, 0o755]])
  })

  it("copies what a file was before the patch, wherever the copy stands", async () => {
    await using tools = await openTools({ "a.txt": "one\n", "m.txt": "moves\n" })
    const copy = (from: string, to: string) => [
      `diff --git a/${from} b/${to}`,
      "similarity index 100%",
      `copy from ${from}`,
      `copy to ${to}`
    ]
    const diff = [
      "diff --git a/a.txt b/a.txt",
      ...head("a.txt"),
      "@@ -1 +1 @@",
      "-one",
      "+1",
      ...copy("a.txt", "b.txt"),
      "diff --git a/m.txt b/n.txt",
      "similarity index 100%",
      "rename from m.txt",
      "rename to n.txt",
      ...copy("m.txt", "o.txt"),
      "--- a/m.txt",
      "+++ b/o.txt",
      "@@ -1 +1 @@",
      "-moves",
      "+copied"
    ]
    expect(await tools.call("apply_patch", { patch: `${diff.join("\n")}\n` })).toMatchObject({ ok: true })
    const names = ["a.txt", "b.txt", "n.txt", "o.txt"]
    expect(names.map((name) => tools.workspace.read(name))).toEqual(["1\n", "one\n", "moves\n", "copied\n"])
    expect(tools.workspace.exists("m.txt")).toBe(false)
  })

  it.skipIf(process.platform === "win32")(
    "takes set-user-ID from a file that moves and changes, and gives a copy none of it (not on this platform)",
    async () => {
      await using tools = await openTools({ "a.txt": { text: "one\n", mode: 0o755 } })
      const mode = (path: string) => statSync(join(tools.workspace.root, path)).mode & 0o7777
      chmodSync(join(tools.workspace.root, "a.txt"), 0o4755)
      const diff = [
        "diff --git a/a.txt b/b.txt",
        "copy from a.txt",
        "copy to b.txt",
        "diff --git a/a.txt b/c.txt",
        "rename from a.txt",
        "rename to c.txt",
        "--- a/a.txt",
        "+++ b/c.txt",
        "@@ -1 +1 @@",
        "-one",
        "+1"
      ]
      expect(await tools.call("apply_patch", { patch: `${diff.join("\n")}\n` })).toMatchObject({ ok: true })
      expect([mode("b.txt"), mode("c.txt"), tools.workspace.read("c.txt")]).toEqual([0o755, 0o755, "1\n"])
    }
  )

  it("sets and clears the executable bit of a file whose text stays", async () => {
    const mode = (now: string) => ["diff --git a/a.txt b/a.txt", "old mode 100000", `new mode ${now}`]
    expect((await patch({ "a.txt": { text: "x", mode: 0o644 } }, ...mode("100755"))).modes).toEqual([0o755])
    expect((await patch({ "a.txt": { text: "x", mode: 0o750 } }, ...mode("100644"))).modes).toEqual([0o640])
  })

  it("keeps the mode of a script", async () => {
    const { modes } = await patch(
      { "a.txt": { text: "x\n", mode: 0o755 } },
      ...head("a.txt"),
      "@@ -1 +1 @@",
      "-x",
      "+y"
    )
    expect(modes).toEqual([0o755])
  })

  it("reads quoted names", async () => {
    await using tools = await openTools({ 'gr\u00fc\u00df "x".txt': "one\n" })
    const name = '"a/gr\\303\\274\\303\\237 \\"x\\".txt"'
    const diff = [`--- ${name}`, `+++ ${name.replace("a/", "b/")}`, "@@ -1 +1 @@", "-one", "+1", ""].join("\n")
    expect(await tools.call("apply_patch", { patch: diff })).toMatchObject({ ok: true })
    expect(tools.workspace.read('gr\u00fc\u00df "x".txt')).toBe("1\n")
  })

  it.each([
    ["names without prefixes", "--- a.txt", "+++ a.txt"],
    ["another first directory on each side", "--- old/a.txt", "+++ new/a.txt"],
    ["a prefix on one side", "--- a.txt", "+++ b/a.txt"],
    ["a backup as the old file", "--- a.txt.orig", "+++ a.txt"]
  ])("finds the file by %s", async (_what, old, now) => {
    expect((await patch({ "a.txt": "one\n" }, old, now, "@@ -1 +1 @@", "-one", "+1")).a).toBe("1\n")
  })

  it("skips the words around a diff, such as a mail's", async () => {
    const { a } = await patch(
      { "a.txt": "one\n" },
      "From: someone",
      "Subject: a change",
      "",
      ...head("a.txt"),
      "@@ -1 +1 @@",
      "-one",
      "+1",
      "-- ",
      "2.39.0"
    )
    expect(a).toBe("1\n")
  })

  it.each([
    [
      "a deletion that leaves something",
      ["--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-one"],
      "patch_hunk_failed"
    ],
    ["a creation over a file", ["--- /dev/null", "+++ b/a.txt", "@@ -0,0 +1 @@", "+x"], "already_exists"],
    ["a file that is not there", [...head("x.txt"), "@@ -1 +1 @@", "-a", "+b"], "file_not_found"],
    [
      "a binary patch",
      ["diff --git a/a.txt b/a.txt", "index 1..2 100644", "GIT binary patch", "literal 3"],
      "patch_parse_error"
    ],
    [
      "binary files that differ",
      ["diff --git a/a.txt b/a.txt", "Binary files a/a.txt and b/a.txt differ"],
      "patch_parse_error"
    ],
    [
      "binary files that differ, as diff -r says it",
      [...head("a.txt"), "@@ -1 +1 @@", "-one", "+1", "Binary files a/x and b/x differ"],
      "patch_parse_error"
    ],
    [
      "a header whose names can't be told apart",
      ["diff --git a/a b b/c d", "old mode 100644", "new mode 100755"],
      "patch_parse_error"
    ],
    [
      "another target for a link",
      ["diff --git a/a.txt b/a.txt", "index 1..2 120000", ...head("a.txt"), "@@ -1 +1 @@", "-one", "+/etc/passwd"],
      "path_outside_workspace"
    ],
    [
      "a link that becomes a file",
      [
        "diff --git a/a.txt b/a.txt",
        "old mode 120000",
        "new mode 100644",
        ...head("a.txt"),
        "@@ -1 +1 @@",
        "-one",
        "+1"
      ],
      "path_outside_workspace"
    ],
    ["an ed script", ["1c", "x", "."], "patch_parse_error"],
    [
      "the combined diff of a merge",
      ["diff --cc a.txt", ...head("a.txt"), "@@@ -1,2 -1,2 +1,2 @@@", "- one", " -eins", "++1", "  two"],
      "patch_parse_error"
    ],
    ["line breaks that are spelled out", ["--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one\\n+1"], "patch_parse_error"],
    ["a context diff", ["*** a.txt", "--- a.txt", "***************", "*** 1 ****"], "patch_parse_error"],
    ["a hunk without a file", ["@@ -1 +1 @@", "-a", "+b"], "patch_parse_error"],
    ["a header without hunks", [...head("a.txt")], "patch_parse_error"],
    ["a broken hunk header", [...head("a.txt"), "@@ -12,3 and so on", "-a", "+b"], "patch_parse_error"],
    ["an empty hunk", [...head("a.txt"), "@@ -1,2 +1,2 @@"], "patch_parse_error"],
    ["a hunk without changes", [...head("a.txt"), "@@ -1 +1 @@", " one"], "patch_parse_error"],
    ["two times /dev/null", ["--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "-a", "+b"], "patch_parse_error"],
    [
      "a link",
      ["diff --git a/l b/l", "new file mode 120000", "--- /dev/null", "+++ b/l", "@@ -0,0 +1 @@", "+/etc/passwd"],
      "path_outside_workspace"
    ],
    [
      "a submodule",
      ["diff --git a/l b/l", "new file mode 160000", "--- /dev/null", "+++ b/l", "@@ -0,0 +1 @@", "+x"],
      "path_outside_workspace"
    ],
    ["git's own files", [...head(".git/config"), "@@ -1 +1 @@", "-a", "+b"], "path_outside_workspace"],
    ["an absolute path", ["--- /etc/passwd", "+++ /etc/passwd", "@@ -1 +1 @@", "-a", "+b"], "path_outside_workspace"],
    ["a path that climbs out", [...head("../x"), "@@ -1 +1 @@", "-a", "+b"], "path_outside_workspace"]
  ])("refuses %s", async (_what, lines, code) => {
    const { error, a } = await patch({ "a.txt": "one\ntwo\n" }, ...lines)
    expect(error?.code).toBe(code)
    expect(a).toBe("one\ntwo\n")
  })
})

describe("unified diffs: what people and tools make of them", () => {
  it("reads blank lines between hunks and text around files", async () => {
    const { a } = await patch(
      { "a.txt": "1\n2\n3\n4\n5\n6\n" },
      "Here you are:",
      ...head("a.txt"),
      "@@ -1,2 +1,2 @@",
      "-1",
      "+one",
      " 2",
      "",
      "@@ -5,2 +5,2 @@",
      "-5",
      "+five",
      " 6",
      "That is all."
    )
    expect(a).toBe("one\n2\n3\n4\nfive\n6\n")
  })

  it("keeps a space at the end of a name that a tab closes", async () => {
    await using tools = await openTools({ "f ": "a\n" })
    const diff = "--- a/f \t\n+++ b/f \t\n@@ -1 +1 @@\n-a\n+b\n"
    expect(await tools.call("apply_patch", { patch: diff })).toMatchObject({ ok: true })
    expect(tools.workspace.read("f ")).toBe("b\n")
  })

  it("takes other prefixes off the name of a new file too", async () => {
    await using tools = await openTools({ old: "x\n" })
    const diff =
      "diff --git i/n.txt w/n.txt\nnew file mode 100644\n--- /dev/null\n+++ w/n.txt\n@@ -0,0 +1 @@\n+a\n" +
      "diff --git i/old w/old\ndeleted file mode 100644\n--- i/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    expect(await tools.call("apply_patch", { patch: diff })).toMatchObject({ ok: true })
    expect(tools.workspace.read("n.txt")).toBe("a\n")
    expect(tools.workspace.exists("old")).toBe(false)
  })

  it("places twenty thousand hunks in one file", { timeout: 60_000 }, async () => {
    const numbers = Array.from({ length: 20_000 }, (_, index) => index)
    await using tools = await openTools({ f: numbers.map((line) => `${line}\n${line}b\n`).join("") })
    const hunks = numbers.map((line) => `@@ -${2 * line + 1} +${2 * line + 1} @@\n-${line}\n+n${line}\n`)
    await tools.call("apply_patch", { patch: `--- a/f\n+++ b/f\n${hunks.join("")}` })
    expect(tools.workspace.read("f")).toBe(numbers.map((line) => `n${line}\n${line}b\n`).join(""))
  })

  it("does not lose itself in a hunk whose lines all repeat themselves", async () => {
    const same = Array.from({ length: 20_000 }, () => " same")
    const bottom = [...head("a.txt"), "@@ -1,20001 +1,20001 @@", ...same, "-no", "+x"]
    expect((await patch({ "a.txt": "same\n".repeat(100_000) }, ...bottom)).error?.code).toBe("patch_hunk_failed")
  })
})

describe("unified diffs: places", () => {
  const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`)
  const text = (...all: ReadonlyArray<string>) => all.map((line) => `${line}\n`).join("")

  it("finds a hunk away from its stated line, and says how far", async () => {
    const { a, hunks } = await patch(
      { "a.txt": text("x", "y", ...lines(1, 9)) },
      ...head("a.txt"),
      "@@ -2,3 +2,3 @@",
      " 2",
      "-3",
      "+three",
      " 4"
    )
    expect(a).toBe(text("x", "y", "1", "2", "three", ...lines(4, 9)))
    expect(hunks).toEqual([{ path: "a.txt", line: 5, matched: "exact", offset: 2, fuzz: 0 }])
  })

  it("leaves out up to two lines of context, and says so", async () => {
    const { a, hunks } = await patch(
      { "a.txt": text("x", "2", "3", "4", "5", "6", "y") },
      ...head("a.txt"),
      "@@ -1,7 +1,7 @@",
      " 1",
      " 2",
      " 3",
      "-4",
      "+four",
      " 5",
      " 6",
      " 7"
    )
    expect(a).toBe(text("x", "2", "3", "four", "5", "6", "y"))
    expect(hunks).toMatchObject([{ fuzz: 1 }])
  })

  it("leaves nothing out where all context stands, though the hunk seems to end the file", async () => {
    const { a, hunks } = await patch(
      { "a.txt": text(...lines(1, 9)) },
      ...head("a.txt"),
      "@@ -3,2 +3,2 @@",
      " 3",
      "-4",
      "+four"
    )
    expect(a).toBe(text("1", "2", "3", "four", ...lines(5, 9)))
    expect(hunks).toMatchObject([{ line: 4, matched: "exact", fuzz: 0, offset: 0 }])
  })

  it("adds below a line that stands where it is said to, though leaving it out would leave nothing", async () => {
    const hunk = (line: number) => [...head("a.txt"), `@@ -${line} +${line},2 @@`, " }", "+new"]
    const file = { "a.txt": text("a", "}", "b", "}", "c") }
    const { a, hunks } = await patch(file, ...hunk(4))
    expect(a).toBe(text("a", "}", "b", "}", "new", "c"))
    expect(hunks).toMatchObject([{ line: 5, fuzz: 0, offset: 0 }])
    const { error } = await patch(file, ...hunk(3))
    expect(error).toMatchObject({ code: "patch_hunk_failed", details: { lines: [2, 4] } })
  })

  it("carries the offset of one hunk to the next", async () => {
    const { a } = await patch(
      { "a.txt": text("new", ...lines(1, 20)) },
      ...head("a.txt"),
      "@@ -2,3 +2,3 @@",
      " 2",
      "-3",
      "+three",
      " 4",
      "@@ -12,3 +12,3 @@",
      " 12",
      "-13",
      "+thirteen",
      " 14"
    )
    expect(a).toBe(text("new", "1", "2", "three", ...lines(4, 12), "thirteen", ...lines(14, 20)))
  })

  it("inserts after the line that a header without old lines names", async () => {
    expect((await patch({ "a.txt": text("1", "2") }, ...head("a.txt"), "@@ -1,0 +2 @@", "+between")).a).toBe(
      text("1", "between", "2")
    )
    expect((await patch({ "a.txt": text("1", "2") }, ...head("a.txt"), "@@ -0,0 +1 @@", "+top")).a).toBe(
      text("top", "1", "2")
    )
    expect((await patch({ "a.txt": "1\n" }, ...head("a.txt"), "@@ -7,0 +8 @@", "+x")).error?.code).toBe(
      "patch_hunk_failed"
    )
  })

  it("creates a file by a hunk without old lines, whatever the header says", async () => {
    expect((await patch({}, ...head("a.txt"), "@@ -0,0 +1 @@", "+new")).a).toBe("new\n")
  })

  it.each([
    ["too small", "@@ -1,1 +1,1 @@", 1],
    ["too large", "@@ -1,4 +1,4 @@", 1],
    ["missing", "@@", 0],
    ["three dots", "@@ ... @@", 0]
  ])("derives counts that are %s from the body, and tells of wrong ones", async (_what, header, told) => {
    const { a, reply } = await patch(
      { "a.txt": text("1", "2", "3") },
      ...head("a.txt"),
      header,
      " 1",
      "-2",
      "+two",
      " 3"
    )
    expect(a).toBe(text("1", "two", "3"))
    const isAboutCounts = (warning: string) => warning.includes("its header counts other lines than follow")
    expect(reply.result?.warnings.filter(isAboutCounts)).toHaveLength(told)
  })

  it("reads the next file after a body whose counts are wrong", async () => {
    const { a, b } = await patch(
      { "a.txt": "1\n", "b.txt": "2\n" },
      ...head("a.txt"),
      "@@ -1,5 +1,5 @@",
      "-1",
      "+one",
      ...head("b.txt"),
      "@@ -1 +1 @@",
      "-2",
      "+two"
    )
    expect([a, b]).toEqual(["one\n", "two\n"])
  })

  it("wants a hunk without line numbers to be unique", async () => {
    const { error } = await patch({ "a.txt": text("x", "1", "x") }, ...head("a.txt"), "@@ @@", "-x", "+y")
    expect(error?.details).toMatchObject({ lines: [1, 3] })
  })

  it("takes a heading without line numbers for an anchor", async () => {
    const { a } = await patch({ "a.txt": text("f:", " x", "g:", " x") }, ...head("a.txt"), "@@ g:", "- x", "+ y")
    expect(a).toBe(text("f:", " x", "g:", " y"))
  })

  it("refuses hunks that change the same line", async () => {
    const { error } = await patch(
      { "a.txt": text("1", "2") },
      ...head("a.txt"),
      "@@ -1 +1 @@",
      "-1",
      "+one",
      "@@ -1 +1 @@",
      "-1",
      "+eins"
    )
    expect(error?.code).toBe("patch_hunk_failed")
  })

  it("says that a hunk fits nowhere, and what is nearest", async () => {
    const { error } = await patch(
      { "a.txt": text("a", "b", "c") },
      ...head("a.txt"),
      "@@ -1,3 +1,3 @@",
      " a",
      "-B",
      "+x",
      " c"
    )
    expect(error).toMatchObject({
      code: "patch_hunk_failed",
      details: { nearest_line: 1, differs_at: 2, expected: "B", found: "b" }
    })
  })
})

describe("unified diffs: bytes", () => {
  it("keeps CRLF throughout when the patch has LF", async () => {
    const { a } = await patch(
      { "a.txt": "1\r\n2\r\n3\r\n" },
      ...head("a.txt"),
      "@@ -1,3 +1,4 @@",
      " 1",
      "-2",
      "+two",
      "+more",
      " 3"
    )
    expect(a).toBe("1\r\ntwo\r\nmore\r\n3\r\n")
  })

  it("applies a patch that came with CRLF to an LF file", async () => {
    const { a } = await patch(
      { "a.txt": "1\n2\n" },
      "--- a/a.txt\r",
      "+++ b/a.txt\r",
      "@@ -1,2 +1,2 @@\r",
      " 1\r",
      "-2\r",
      "+two\r"
    )
    expect(a).toBe("1\ntwo\n")
  })

  it("changes line ends when the patch says so", async () => {
    const { a } = await patch({ "a.txt": "1\r\n2\r\n" }, ...head("a.txt"), "@@ -1,2 +1,2 @@", "-1\r", "+1", " 2\r")
    expect(a).toBe("1\n2\r\n")
  })

  it("honors the mark for a missing newline on either side", async () => {
    const marked = "\\ No newline at end of file"
    expect((await patch({ "a.txt": "1" }, ...head("a.txt"), "@@ -1 +1 @@", "-1", marked, "+1")).a).toBe("1\n")
    expect((await patch({ "a.txt": "1\n" }, ...head("a.txt"), "@@ -1 +1 @@", "-1", "+1", marked)).a).toBe("1")
    expect((await patch({ "a.txt": "1\n2" }, ...head("a.txt"), "@@ -1,2 +1,2 @@", "-1", "+one", " 2")).a).toBe("one\n2")
    expect((await patch({ "a.txt": "1\n2" }, ...head("a.txt"), "@@ -1,2 +1,3 @@", " 1", " 2", "+3")).a).toBe("1\n2\n3")
  })

  it("keeps a byte order mark that the patch does not know of, and takes one away that it names", async () => {
    const change = (old: string) =>
      patch({ "a.txt": "\uFEFF1\n2\n" }, ...head("a.txt"), "@@ -1,2 +1,2 @@", `-${old}`, "+one", " 2")
    expect((await change("1")).a).toBe("\uFEFFone\n2\n")
    expect((await change("\uFEFF1")).a).toBe("one\n2\n")
  })

  it("writes through a link to a file inside, and keeps the link", async () => {
    await using tools = await openTools({ "real.txt": "1\n", link: { symlink: "real.txt" } })
    expect(await tools.call("apply_patch", { patch: "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-1\n+one\n" })).toMatchObject(
      { ok: true }
    )
    expect(tools.workspace.read("real.txt")).toBe("one\n")
    const move = "*** Begin Patch\n*** Update File: link\n*** Move to: other\n@@\n-one\n+two\n*** End Patch"
    expect(await tools.call("apply_patch", { patch: move })).toMatchObject({ error: { code: "not_a_regular_file" } })
  })
})

describe("unified diffs: preview and approval", () => {
  it("shows the diff that will be made, and where each hunk was found", async () => {
    await using tools = await openTools({ "a.txt": "new\n1\n2\n" })
    const { diff } = await tools.host.preview("apply_patch", {
      patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n"
    })
    expect(diff).toBe(
      "# a.txt: matched at line 3, exactly, 1 line below the stated one\n" +
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n new\n 1\n-2\n+two\n"
    )
    expect(tools.workspace.read("a.txt")).toBe("new\n1\n2\n")
  })

  it("previews modes, deletions and binary files too", async () => {
    await using tools = await openTools({
      "a.sh": { text: "x\n", mode: 0o644 },
      "b.bin": Buffer.from([0]),
      "c.txt": "c\n"
    })
    const preview = async (patch: string) => (await tools.host.preview("apply_patch", { patch })).diff
    expect(await preview("diff --git a/a.sh b/a.sh\nold mode 100644\nnew mode 100755\n")).toBe(
      "old mode 100644\nnew mode 100755\n"
    )
    expect(await preview("*** Begin Patch\n*** Delete File: b.bin\n*** Delete File: c.txt\n*** End Patch")).toBe(
      "Binary file b.bin is replaced or deleted\n--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n"
    )
  })

  it("does not write to a file that changed while the question was open", async () => {
    const { scriptedApprover } = await import("@haft/testing")
    let change = (): void => undefined
    const approver = scriptedApprover(() => {
      change()
      return { approved: true }
    })
    await using tools = await openTools({ "a.txt": "1\n" }, { approver })
    let count = 0
    change = () => tools.workspace.put("a.txt", `1\nchanged ${count++}\n`)
    expect(
      await tools.call("apply_patch", { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+one\n" })
    ).toMatchObject({
      ok: false,
      error: { code: "stale_file" }
    })
  })
})
