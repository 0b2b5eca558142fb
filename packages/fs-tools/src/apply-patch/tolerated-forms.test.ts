import { lstatSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"
import type { Fixture } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

interface Reply {
  readonly ok: boolean
  readonly result?: { readonly warnings: ReadonlyArray<string>; readonly files: ReadonlyArray<object> }
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> }
}

/** Applies a patch, and hands over the files that there are afterwards. */
const patch = async (files: Record<string, Fixture>, lines: ReadonlyArray<string>, paths = Object.keys(files)) => {
  await using tools = await openTools(files)
  const reply = (await tools.call("apply_patch", { patch: `${lines.join("\n")}\n` })) as Reply
  const after = Object.fromEntries(
    paths.map((path) => [path, tools.workspace.exists(path) ? tools.workspace.read(path) : null])
  )
  return { reply, after, error: reply.error, warnings: reply.result?.warnings }
}

const rename = (from: string, to: string, ...hunk: ReadonlyArray<string>) => [
  `diff --git a/${from} b/${to}`,
  "similarity index 90%",
  `rename from ${from}`,
  `rename to ${to}`,
  ...(hunk.length === 0 ? [] : [`--- a/${from}`, `+++ b/${to}`, ...hunk])
]

describe("diff -ruN", () => {
  const epoch = "1970-01-01 01:00:00.000000000 +0100"
  const now = "2026-11-17 12:00:00.123456789 +0100"

  it.each(["\t", "  "])("creates and deletes files whose time is the epoch, after %j", async (gap) => {
    const { after } = await patch(
      { "gone.txt": "bye\n" },
      [
        "diff -ruN a/gone.txt b/gone.txt",
        `--- a/gone.txt${gap}${now}`,
        `+++ b/gone.txt${gap}${epoch}`,
        "@@ -1 +0,0 @@",
        "-bye",
        "diff -ruN a/new.txt b/new.txt",
        `--- a/new.txt${gap}${epoch}`,
        `+++ b/new.txt${gap}${now}`,
        "@@ -0,0 +1 @@",
        "+hello"
      ],
      ["gone.txt", "new.txt"]
    )
    expect(after).toEqual({ "gone.txt": null, "new.txt": "hello\n" })
  })

  it("does not put a new file over one that exists", async () => {
    const lines = [`--- a/a.txt\t${epoch}`, `+++ b/a.txt\t${now}`, "@@ -0,0 +1 @@", "+new"]
    const { error, after } = await patch({ "a.txt": "kept\n" }, lines)
    expect([error?.code, after]).toEqual(["already_exists", { "a.txt": "kept\n" }])
    expect((await patch({ "a.txt": "new\n" }, lines)).error?.code).toBe("already_applied")
  })

  it("takes a time behind a name for a time", async () => {
    const lines = ["--- a.txt Tue Nov 17 12:00:00 2026", `+++ a.txt ${now}`, "@@ -1 +1 @@", "-one", "+1"]
    expect((await patch({ "a.txt": "one\n" }, lines)).after).toEqual({ "a.txt": "1\n" })
  })
})

describe("git's diffs describe one change of the whole tree", () => {
  it("exchanges two files by two renames", async () => {
    const { after } = await patch({ "a.txt": "A\n", "b.txt": "B\n" }, [
      ...rename("b.txt", "a.txt"),
      ...rename("a.txt", "b.txt", "@@ -1 +1 @@", "-A", "+A changed")
    ])
    expect(after).toEqual({ "a.txt": "B\n", "b.txt": "A changed\n" })
  })

  it("moves files along a chain, in any order", async () => {
    for (const order of [
      [0, 1],
      [1, 0]
    ]) {
      const sections = [rename("a.txt", "b.txt"), rename("b.txt", "c.txt")]
      const { after } = await patch(
        { "a.txt": "A\n", "b.txt": "B\n" },
        order.flatMap((index) => sections[index] ?? []),
        ["a.txt", "b.txt", "c.txt"]
      )
      expect(after).toEqual({ "a.txt": null, "b.txt": "A\n", "c.txt": "B\n" })
    }
  })

  it("puts a new file where another leaves", async () => {
    const added = [
      "diff --git a/a.txt b/a.txt",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/a.txt",
      "@@ -0,0 +1 @@",
      "+new"
    ]
    const { after } = await patch({ "a.txt": "A\n" }, [...added, ...rename("a.txt", "b.txt")], ["a.txt", "b.txt"])
    expect(after).toEqual({ "a.txt": "new\n", "b.txt": "A\n" })
  })

  it("turns a file into a directory, and a directory into a file", async () => {
    const gone = (path: string, text: string) => [
      `diff --git a/${path} b/${path}`,
      "deleted file mode 100644",
      `--- a/${path}`,
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      `-${text}`
    ]
    const added = (path: string, text: string) => [
      `diff --git a/${path} b/${path}`,
      "new file mode 100644",
      "--- /dev/null",
      `+++ b/${path}`,
      "@@ -0,0 +1 @@",
      `+${text}`
    ]
    expect((await patch({ a: "file\n" }, [...gone("a", "file"), ...added("a/b", "x")], ["a/b"])).after).toEqual({
      "a/b": "x\n"
    })
    const toFile = [...added("a", "file"), ...gone("a/b", "x"), ...gone("a/c/d", "y")]
    expect((await patch({ "a/b": "x\n", "a/c/d": "y\n" }, toFile, ["a"])).after).toEqual({ a: "file\n" })
    const { error, after } = await patch({ "a/b": "x\n", "a/c/d": "y\n", "a/e": "z\n" }, toFile)
    expect([error?.code, after]).toEqual(["already_exists", { "a/b": "x\n", "a/c/d": "y\n", "a/e": "z\n" }])
  })
})

describe("symbolic links in a diff", () => {
  const link = (path: string, target: string) => [
    `diff --git a/${path} b/${path}`,
    "new file mode 120000",
    "--- /dev/null",
    `+++ b/${path}`,
    "@@ -0,0 +1 @@",
    `+${target}`,
    "\\ No newline at end of file"
  ]

  it.skipIf(process.platform === "win32")("are made and deleted (not on this platform)", async () => {
    await using tools = await openTools({ "src/a.txt": "A\n" })
    const made = await tools.call("apply_patch", { patch: `${link("docs/l", "../src/a.txt").join("\n")}\n` })
    expect(made).toMatchObject({ ok: true })
    const path = join(tools.workspace.root, "docs/l")
    expect(readlinkSync(path)).toBe("../src/a.txt")
    const deletion = ["diff --git a/docs/l b/docs/l", "deleted file mode 120000", "--- a/docs/l", "+++ /dev/null"]
    const gone = [...deletion, "@@ -1 +0,0 @@", "-../src/a.txt", "\\ No newline at end of file", ""].join("\n")
    expect(await tools.call("apply_patch", { patch: gone })).toMatchObject({ ok: true })
    expect(() => lstatSync(path)).toThrow("ENOENT")
    expect(tools.workspace.read("src/a.txt")).toBe("A\n")
  })

  it.each(["/etc/passwd", "../../etc/passwd", "../.git/config", "C:\\x", ".."])(
    "do not lead out: %s",
    async (target) => {
      const { error } = await patch({}, link("d/l", target === ".." ? "../.." : target))
      expect(error?.code).toBe("path_outside_workspace")
    }
  )

  it("are refused by name where the contract does not follow links", async () => {
    await using tools = await openTools({ a: "A\n" }, { dialect: agentbench })
    expect(await tools.call("apply_patch", { unified_diff: `${link("l", "a").join("\n")}\n` })).toMatchObject({
      status: "error",
      error: { error_type: "symlink_blocked", message: expect.stringContaining("is a symbolic link") as string }
    })
  })
})

describe("what is tolerated in a patch", () => {
  const file = "one\ntwo\nthree\n"
  const body = [" one", "-two", "+2", " three"]

  it.each([
    ["three dots and a heading", "@@ ... @@ some function"],
    ["letters for numbers", "@@ -N,M +N,M @@"],
    ["question marks", "@@ ??? @@"],
    ["nothing between", "@@ @@"],
    ["one line number", "@@ -1 @@"],
    ["no closing @@", "@@ -1,3 +1,3"],
    ["spaces in the numbers", "@@ -1, 3 +1, 3 @@"]
  ])("a header with %s", async (_what, header) => {
    expect((await patch({ a: file }, ["--- a/a", "+++ b/a", header, ...body])).after).toEqual({ a: "one\n2\nthree\n" })
  })

  it("colors, as git prints them", async () => {
    const colored = [
      "\u001B[1mdiff --git a/a b/a\u001B[m",
      "\u001B[1m--- a/a\u001B[m",
      "\u001B[1m+++ b/a\u001B[m",
      "\u001B[36m@@ -1,3 +1,3 @@\u001B[m",
      " one",
      "\u001B[31m-two\u001B[m",
      "\u001B[32m+\u001B[m\u001B[32m2\u001B[m",
      " three"
    ]
    expect((await patch({ a: file }, colored)).after).toEqual({ a: "one\n2\nthree\n" })
  })

  it("an environment, and an envelope without sections", async () => {
    const lines = ["*** Begin Patch", "*** Environment ID: e-1", "*** Update File: a", "@@", ...body, "*** End Patch"]
    expect((await patch({ a: file }, lines)).after).toEqual({ a: "one\n2\nthree\n" })
    expect((await patch({ a: file }, ["*** Begin Patch", "*** End Patch"])).reply).toMatchObject({
      ok: true,
      result: { changed: false }
    })
  })

  it.each([
    [
      "a unified diff",
      ["--- a/a", "+++ b/a", "@@ -1,3 +1,4 @@", "def f():", "    x = 1", "+    y = 2", "    return x"]
    ],
    [
      "an envelope",
      [
        "*** Begin Patch",
        "*** Update File: a",
        "@@",
        "def f():",
        "    x = 1",
        "+    y = 2",
        "    return x",
        "*** End Patch"
      ]
    ]
  ])("context lines without their leading space in %s", async (_what, lines) => {
    const { after, warnings } = await patch({ a: "def f():\n    x = 1\n    return x\n" }, lines)
    expect(after).toEqual({ a: "def f():\n    x = 1\n    y = 2\n    return x\n" })
    expect(warnings).toEqual([expect.stringContaining("without their leading space")])
  })

  it("lone carriage returns in a file", async () => {
    const lines = ["--- a/a", "+++ b/a", "@@ -1,3 +1,4 @@", ...body.slice(0, 3), "+2b", " three"]
    expect((await patch({ a: "one\rtwo\rthree\r" }, lines)).after).toEqual({ a: "one\r2\r2b\rthree\r" })
  })
})

describe("what is refused in a patch", () => {
  it("hunks that overlap", async () => {
    const hunk = (line: number) => [`@@ -${line},6 +${line},7 @@`, " 1", " 2", " 3", "+a", " 4", " 5", " 6"]
    const before = "x\nx\nx\nx\nx\nx\n1\n2\n3\n4\n5\n6\n"
    const { error, after } = await patch({ a: before }, ["--- a/a", "+++ b/a", ...hunk(1), ...hunk(7)])
    expect([error?.code, after]).toEqual(["patch_hunk_failed", { a: before }])
    expect(error?.message).toContain("another hunk changes them")
  })

  it("a partial match far from the stated line", async () => {
    const before = `${"filler\n".repeat(100)}one\ntwo\nthree\n`
    const lines = ["--- a/a", "+++ b/a", "@@ -10,3 +10,3 @@", " eins", "-two", "+2", " three"]
    const { error, after } = await patch({ a: before }, lines)
    expect([error?.code, after]).toEqual(["patch_hunk_failed", { a: before }])
    expect(error?.message).toContain("too far from the stated line")
  })

  it("braces and blank lines away from the stated line", async () => {
    const before = "a\nb\nc\n}\n\n"
    const { error } = await patch({ a: before }, ["--- a/a", "+++ b/a", "@@ -1,2 +1,3 @@", " }", " ", "+new"])
    expect(error?.message).toContain("identify no place away from the stated line")
  })

  it("and what would repair it is in the details", async () => {
    const before = "one\ntwo\nthree\nfour\nfive\n"
    const { error } = await patch({ a: before }, [
      "*** Begin Patch",
      "*** Update File: a",
      "@@",
      " one",
      " zwei",
      "-three",
      "+3",
      " four",
      "*** End Patch"
    ])
    expect(error?.details).toMatchObject({
      nearest_line: 1,
      differs_at: 2,
      repaired: "@@ -1,4 +1,4 @@\n one\n two\n-three\n+3\n four"
    })
    const repaired = error?.details?.["repaired"]
    expect((await patch({ a: before }, ["--- a/a", "+++ b/a", String(repaired)])).after).toEqual({
      a: "one\ntwo\n3\nfour\nfive\n"
    })
  })
})

describe("a hunk that fits in part", () => {
  it("is refused where its added lines may belong before or behind a line that it left out", async () => {
    const file = "one\ntwo\nleft out\nthree\n"
    const body = ["--- a/a.txt", "+++ b/a.txt", "@@ -1,3 +1,4 @@", " one", " two", "+new", " three"]
    const { error, after } = await patch({ "a.txt": file }, body)
    expect([error?.code, after]).toEqual(["patch_hunk_failed", { "a.txt": file }])
  })

  it("is placed where a line beside its added lines stands at either side", async () => {
    const body = ["--- a/a.txt", "+++ b/a.txt", "@@ -1,5 +1,6 @@", " one", " two", "+new", " three", " vier", " five"]
    const { after } = await patch({ "a.txt": "one\ntwo\nthree\nfour\nfive\n" }, body)
    expect(after).toEqual({ "a.txt": "one\ntwo\nnew\nthree\nfour\nfive\n" })
  })

  it("goes to its stated line, where only spaces at line ends differ, and not to an exact match elsewhere", async () => {
    const block = (space: string) => `begin\n  call()${space}\nend${space}\n`
    const file = `${block("")}other\n${block("  ")}`
    const body = ["--- a/a.txt", "+++ b/a.txt", "@@ -5,3 +5,4 @@", " begin", "   call()", "+  more()", " end"]
    const { after } = await patch({ "a.txt": file }, body)
    expect(after).toEqual({ "a.txt": `${block("")}other\nbegin\n  call()  \n  more()\nend  \n` })
  })

  it("is refused without old lines where its header counts some", async () => {
    const body = ["--- a/a.txt", "+++ b/a.txt", "@@ -2,1 +2,3 @@", "+new", "```"]
    const { error, after } = await patch({ "a.txt": "one\ntwo\nthree\n" }, body)
    expect([error?.code, after]).toEqual(["patch_hunk_failed", { "a.txt": "one\ntwo\nthree\n" }])
  })

  it("of an envelope goes behind the hunk before it, though spaces at line ends differ there", async () => {
    const envelope = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "@@",
      "-middle",
      "+center",
      "@@",
      " one",
      "+new",
      " two"
    ]
    const { after } = await patch({ "a.txt": "one\ntwo\nmiddle\none  \ntwo\n" }, [...envelope, "*** End Patch"])
    expect(after).toEqual({ "a.txt": "one\ntwo\ncenter\none  \nnew\ntwo\n" })
  })
})
