import { toolrouter } from "@haft/dialects"
import type { Fixture } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { openTools } from "../../../test/open-tools.ts"

interface Result {
  readonly ok: boolean
  readonly result?: {
    readonly files: ReadonlyArray<object>
    readonly hunks: ReadonlyArray<object>
    readonly warnings: ReadonlyArray<string>
  }
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> }
}

/** Applies an envelope to files and gives back the reply and the files afterwards. */
const patch = async (files: Record<string, Fixture>, ...lines: ReadonlyArray<string>) => {
  await using tools = await openTools(files)
  const text = ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n")
  const reply = (await tools.call("apply_patch", { patch: text })) as Result
  const read = Object.fromEntries(
    [
      ...Object.keys(files),
      ...(reply.result?.files ?? []).map(
        (file) => (file as { moved_to?: string; path: string }).moved_to ?? (file as { path: string }).path
      )
    ].map((path) => [path, tools.workspace.exists(path) ? tools.workspace.bytes(path).toString() : null] as const)
  )
  return { reply, files: read, error: reply.error, hunks: reply.result?.hunks, warnings: reply.result?.warnings }
}

const update = (path: string, ...lines: ReadonlyArray<string>) => [`*** Update File: ${path}`, ...lines]

describe("envelope patches: sections", () => {
  it("adds, updates, moves and deletes in one go, and tells what became of each path", async () => {
    const { reply, files } = await patch(
      { "a.txt": "one\ntwo\n", "old.txt": "x\n", "gone.txt": "bye\n" },
      "*** Add File: new/deep.txt",
      "+hello",
      ...update("a.txt", "@@", " one", "-two", "+2"),
      "*** Update File: old.txt",
      "*** Move to: moved.txt",
      "@@",
      "-x",
      "+y",
      "*** Delete File: gone.txt"
    )
    expect(files).toEqual({
      "a.txt": "one\n2\n",
      "old.txt": null,
      "gone.txt": null,
      "new/deep.txt": "hello\n",
      "moved.txt": "y\n"
    })
    expect(reply.result?.files).toMatchObject([
      { path: "new/deep.txt", change: "created", bytes_written: 6 },
      { path: "a.txt", change: "modified", bytes_written: 6 },
      { path: "old.txt", change: "moved", moved_to: "moved.txt", bytes_written: 2 },
      { path: "gone.txt", change: "deleted", bytes_written: 0 }
    ])
  })

  it("does not overwrite a file by adding it", async () => {
    const { error, files } = await patch({ "a.txt": "kept\n" }, "*** Add File: a.txt", "+new")
    expect(error).toMatchObject({ code: "already_exists", details: { path: "a.txt" } })
    expect(files).toEqual({ "a.txt": "kept\n" })
  })

  it("does not overwrite a file by moving another onto it", async () => {
    const { error, files } = await patch(
      { "a.txt": "a\n", "b.txt": "b\n" },
      ...update("a.txt", "*** Move to: b.txt", "@@", "-a", "+c")
    )
    expect(error?.code).toBe("already_exists")
    expect(files).toEqual({ "a.txt": "a\n", "b.txt": "b\n" })
  })

  it("lets two sections change one file in turn", async () => {
    const { files } = await patch(
      { "a.txt": "one\ntwo\n" },
      ...update("a.txt", "@@", "-one", "+1"),
      ...update("./a.txt", "@@", " 1", "-two", "+2")
    )
    expect(files["a.txt"]).toBe("1\n2\n")
  })

  it("deletes a file and adds it again", async () => {
    const { reply, files } = await patch({ "a.txt": "old\n" }, "*** Delete File: a.txt", "*** Add File: a.txt", "+new")
    expect(files["a.txt"]).toBe("new\n")
    expect(reply.result?.files).toMatchObject([{ path: "a.txt", change: "modified" }])
  })

  it("lets a directory take a deleted file's place", async () => {
    await using tools = await openTools({ a: "file\n" })
    const text = "*** Begin Patch\n*** Delete File: a\n*** Add File: a/b.txt\n+inside\n*** End Patch\n"
    expect(await tools.call("apply_patch", { patch: text })).toMatchObject({ ok: true })
    expect(tools.workspace.read("a/b.txt")).toBe("inside\n")
  })

  it("leaves every file alone when the third does not fit", async () => {
    const before = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" }
    const { error, files } = await patch(
      before,
      ...update("a.txt", "@@", "-a", "+1"),
      "*** Delete File: b.txt",
      ...update("c.txt", "@@", "-nothing like it", "+3")
    )
    expect(error).toMatchObject({ code: "patch_hunk_failed", details: { path: "c.txt", hunk: 1 } })
    expect(error?.message).toContain("nothing was changed")
    expect(files).toEqual(before)
  })

  it("moves a binary file as it is", async () => {
    const { reply } = await patch({ "a.bin": Buffer.from([0, 1, 2]) }, "*** Update File: a.bin", "*** Move to: b.bin")
    expect(reply.result?.files).toMatchObject([{ path: "a.bin", change: "moved", moved_to: "b.bin" }])
  })

  it("deletes a binary file, and refuses to change one", async () => {
    const files = { "a.bin": Buffer.from([0, 1, 2]) }
    expect((await patch(files, "*** Delete File: a.bin")).reply.ok).toBe(true)
    expect((await patch(files, ...update("a.bin", "@@", "-x", "+y"))).error?.code).toBe("binary_file")
  })

  it("says that a patch changes nothing, and touches nothing", async () => {
    const { reply } = await patch({ "a.txt": "a\n" }, ...update("a.txt", "@@", "-a", "+a"))
    expect(reply.result).toMatchObject({ changed: false, files: [] })
  })

  it.each([
    ["a file that is not there", update("b.txt", "@@", "-a", "+b"), "file_not_found"],
    ["a directory", update("d", "@@", "-a", "+b"), "is_directory"],
    ["deleting a directory", ["*** Delete File: d"], "is_directory"],
    ["deleting what is not there", ["*** Delete File: x"], "file_not_found"],
    ["an absolute path", ["*** Add File: /tmp/x", "+a"], "path_outside_workspace"],
    ["a path that climbs out", ["*** Add File: ../x", "+a"], "path_outside_workspace"],
    ["a Windows path that climbs out", ["*** Add File: ..\\x", "+a"], "path_outside_workspace"],
    ["a Windows drive", ["*** Add File: C:\\x", "+a"], "path_outside_workspace"],
    ["git's own files", ["*** Add File: .git/hooks/pre-commit", "+a"], "path_outside_workspace"],
    ["git's own files in other letters", ["*** Add File: sub/.GIT/config", "+a"], "path_outside_workspace"],
    ["a NUL in the path", ["*** Add File: a\0b", "+a"], "invalid_params"],
    ["a path that names a directory", ["*** Add File: d/", "+a"], "invalid_params"]
  ])("refuses %s", async (_what, lines, code) => {
    const { error } = await patch({ "d/x": "" }, ...lines)
    expect(error?.code).toBe(code)
  })
})

describe("envelope patches: form", () => {
  it.each([
    ["an unknown section", ["*** Rename File: x"], /'\*\*\* Rename File: x' is no section/],
    ["a section without a path", ["*** Add File:"], /path is missing/],
    ["an update without hunks", ["*** Update File: a"], /no hunks/],
    ["an empty hunk", [...update("a", "@@ x")], /the hunk is empty/],
    ["a hunk's line that looks like a marker", [...update("a", "@@", "*** oops")], /line 4 of the patch: '\*{3} oops'/],
    ["a new file's line without a plus", ["*** Add File: a", "+x", "oops"], /line 4 of the patch.* begins with '\+'/],
    [
      "a new file's blank line without a plus",
      ["*** Add File: a", "+x", "", "+y"],
      /line 5 of the patch.* an empty one too/
    ],
    ["lines that only have a line number to be placed by", [...update("a", "@@ -3,0 +4,1 @@", "+x")], /not read here/],
    ["a section after the end", ["*** Add File: a", "+x", "*** End Patch", "*** Add File: b"], /more text after/]
  ])("refuses %s and says where", async (_what, lines, message) => {
    const { error } = await patch({ a: "" }, ...lines)
    expect(error?.code).toBe("patch_parse_error")
    expect(error?.message).toMatch(message)
  })

  it.each([
    ["prose", "Please change the file so that it works.", /not a patch/],
    ["a patch cut off before its end", "*** Begin Patch\n*** Add File: a\n+x\n", /last line of the patch/],
    [
      "two patches in one text",
      "Here:\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nand:\n*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\n",
      /line 2.*text before/
    ],
    [
      "a patch beside parts of a diff",
      "--- a/a\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n",
      /line 2.*text before/
    ],
    [
      "line breaks that are spelled out",
      "*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch",
      /spells its line breaks/
    ]
  ])("refuses %s", async (_what, text, message) => {
    await using tools = await openTools()
    expect(await tools.call("apply_patch", { patch: text })).toMatchObject({
      ok: false,
      error: { code: "patch_parse_error", message: expect.stringMatching(message) as string }
    })
    await using strict = await openTools({}, { dialect: toolrouter })
    expect(await strict.call("apply_patch_freeform", { patch: text })).toMatchObject({ error: "patch_parse_error" })
  })

  it.each([
    ["before", "Here is the change:\n\n", ""],
    ["after", "", "\nThat is all.\n"],
    ["around, in a code fence", "Sure!\n\n```patch\n", "\n```\nDone.\n"],
    ["around, with CRLF line ends", "Sure!\r\n", "\r\nDone.\r\n"]
  ])("leaves out text %s an envelope in the haft dialect, and reports it", async (_where, before, after) => {
    const text = `${before}*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch${after}`
    await using tools = await openTools({ a: "x\n" })
    expect(await tools.call("apply_patch", { patch: text })).toMatchObject({
      ok: true,
      result: { warnings: ["the text around the patch was left out"] }
    })
    expect(tools.workspace.read("a")).toBe("y\n")
    await using strict = await openTools({ a: "x\n" }, { dialect: toolrouter })
    expect(await strict.call("apply_patch_json", { patch: text })).toMatchObject({ error: "patch_parse_error" })
    expect(strict.workspace.read("a")).toBe("x\n")
  })

  it("counts the lines of a patch with text around it from the first of the text", async () => {
    await using tools = await openTools({ a: "x\n" })
    const text = "One\nTwo\n*** Begin Patch\n*** Rename File: a\n*** End Patch\nThree\n"
    expect(await tools.call("apply_patch", { patch: text })).toMatchObject({
      error: { code: "patch_parse_error", details: { line: 4 } }
    })
  })

  it.each(["@@ -1,2 +1,2 @@", "@@ -7 +9 @@ class B:", "@@ class B: @@", "@@ class B: @@ "])(
    "reads an anchor that looks like the header of a hunk: %s",
    async (header) => {
      const { files } = await patch(
        { "a.py": "class A:\n  x = 0\nclass B:\n  x = 1\n" },
        ...update("a.py", header, "-  x = 1", "+  x = 2")
      )
      expect(files["a.py"]).toBe("class A:\n  x = 0\nclass B:\n  x = 2\n")
    }
  )

  it("reads a heredoc, CRLF line ends and markers with stray spaces", async () => {
    await using tools = await openTools({ "a.txt": "one\n", "b.txt": "two\n" })
    const text = [
      "apply_patch <<'EOF'",
      "  *** Begin Patch ",
      " *** Update File: a.txt  ",
      "@@",
      "-one",
      "+1",
      "  *** Update File: b.txt",
      "-two",
      "+2",
      " *** End Patch  ",
      "EOF"
    ].join("\r\n")
    expect(await tools.call("apply_patch", { patch: text })).toMatchObject({ ok: true })
    expect([tools.workspace.read("a.txt"), tools.workspace.read("b.txt")]).toEqual(["1\n", "2\n"])
  })

  it("takes a context line that is a marker for a context line", async () => {
    const { files } = await patch(
      { "notes.md": "*** End of File\nold\n" },
      ...update("notes.md", "@@", " *** End of File", "-old", "+new")
    )
    expect(files["notes.md"]).toBe("*** End of File\nnew\n")
  })
})

describe("envelope patches: places", () => {
  it("puts an anchored insertion right below its anchor", async () => {
    const { files } = await patch(
      { "a.py": "def a():\n    pass\n\ndef b():\n    pass\n" },
      ...update("a.py", "@@ def a():", "+    print(1)")
    )
    expect(files["a.py"]).toBe("def a():\n    print(1)\n    pass\n\ndef b():\n    pass\n")
  })

  it("puts an anchored insertion below the last line, also when that has no newline", async () => {
    const { files } = await patch({ "a.py": "x\ndef z():" }, ...update("a.py", "@@ def z():", "+    pass"))
    expect(files["a.py"]).toBe("x\ndef z():\n    pass")
  })

  it("appends lines that come without any place", async () => {
    const { files } = await patch({ "a.txt": "one\n" }, ...update("a.txt", "@@", "+two"))
    expect(files["a.txt"]).toBe("one\ntwo\n")
  })

  it("refuses two exact hits and lists their lines", async () => {
    const before = { "a.txt": "x\nsame\ny\nsame\n" }
    const { error, files } = await patch(before, ...update("a.txt", "@@", "-same", "+other"))
    expect(error).toMatchObject({ code: "patch_hunk_failed", details: { path: "a.txt", lines: [2, 4] } })
    expect(error?.message).toContain("lines 2, 4")
    expect(files).toEqual(before)
  })

  it("does not settle two exact hits by a looser one that is unique", async () => {
    const before = { "a.txt": "x = 1\nx = 1\nx = 1;  \n" }
    expect((await patch(before, ...update("a.txt", "@@", "-x = 1", "+x = 2"))).error?.details).toMatchObject({
      lines: [1, 2]
    })
  })

  it("prefers an exact hit to a looser one", async () => {
    const { files, hunks } = await patch({ "a.txt": "  same\nsame\n" }, ...update("a.txt", "@@", "-same", "+other"))
    expect(files["a.txt"]).toBe("  same\nother\n")
    expect(hunks).toMatchObject([{ line: 2, matched: "exact" }])
  })

  it("chooses the block below an anchor, however often the lines come later", async () => {
    const body = (name: string) => `def ${name}():\n    return 1\n\n`
    const { files } = await patch(
      { "a.py": body("a") + body("b") + body("c") },
      ...update("a.py", "@@ def b():", "-    return 1", "+    return 2")
    )
    expect(files["a.py"]).toBe(body("a") + body("b").replace("1", "2") + body("c"))
  })

  it("takes what stands right below an anchor without a block, and nothing further down by choice", async () => {
    const text = "first\nx\ny\nx\nsecond\nz\nx\nx\n"
    const { files } = await patch({ "a.txt": text }, ...update("a.txt", "@@ first", "-x", "+1"))
    expect(files["a.txt"]).toBe("first\n1\ny\nx\nsecond\nz\nx\nx\n")
    const { error } = await patch({ "a.txt": text }, ...update("a.txt", "@@ second", "-x", "+1"))
    expect(error).toMatchObject({ code: "patch_hunk_failed", details: { lines: [7, 8] } })
  })

  it("narrows by stacked anchors", async () => {
    const kind = (name: string) =>
      `class ${name}:\n    def f(self):\n        return 1\n    def g(self):\n        return 1\n`
    const { files } = await patch(
      { "a.py": kind("A") + kind("B") },
      ...update("a.py", "@@ class B:", "@@     def g(self):", "-        return 1", "+        return 2")
    )
    expect(files["a.py"]).toBe(
      kind("A") + "class B:\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n"
    )
  })

  it("says which anchor is not there, and where one comes close", async () => {
    const { error } = await patch(
      { "a.py": "def alpha():\n    pass\n" },
      ...update("a.py", "@@ def alphas():", "+    x")
    )
    expect(error?.message).toContain("def alphas():")
    expect(error?.details).toMatchObject({ nearest_line: 1, found: "def alpha():" })
  })

  it("refuses an insertion below an anchor that stands twice", async () => {
    const { error } = await patch({ "a.py": "x\nx\n" }, ...update("a.py", "@@ x", "+y"))
    expect(error?.details).toMatchObject({ lines: [2, 3] })
  })

  it("finds an anchor inside a longer line", async () => {
    const { files } = await patch(
      { "a.py": "class A(Base):\n    x = 1\n" },
      ...update("a.py", "@@ class A", "-    x = 1", "+    x = 2")
    )
    expect(files["a.py"]).toBe("class A(Base):\n    x = 2\n")
  })

  it("places hunks in order, and one that only fits earlier there", async () => {
    const { files } = await patch(
      { "a.txt": "one\nsame\ntwo\nsame\nthree\n" },
      ...update("a.txt", "@@", "-two", "+2", "@@", "-same", "+second", "@@", "-one", "+1")
    )
    expect(files["a.txt"]).toBe("1\nsame\n2\nsecond\nthree\n")
  })

  it("honors the end-of-file marker", async () => {
    const { files } = await patch({ "a.txt": "x\ny\nx\n" }, ...update("a.txt", "@@", "-x", "+z", "*** End of File"))
    expect(files["a.txt"]).toBe("x\ny\nz\n")
  })

  it("takes an empty line for an empty context line, and one at the end for padding", async () => {
    const { files } = await patch(
      { "a.txt": "one\n\ntwo\nthree\n" },
      ...update("a.txt", "@@", " one", "", "-two", "+2", "")
    )
    expect(files["a.txt"]).toBe("one\n\n2\nthree\n")
  })

  it.each([
    ["spaces at line ends", "one  \ntwo\n", "trailing_space"],
    ["spaces around", "    one\n    two\n", "surrounding_space"],
    ["smart quotes and dashes", "\u201cone\u201d \u2013\ntwo\n", "look_alikes"]
  ])("forgives %s, keeps the context's bytes, and reports it", async (_what, text, matched) => {
    const [first = "", second = ""] = text.split("\n")
    const context = matched === "look_alikes" ? '"one" -' : "one"
    const { files, hunks } = await patch({ "a.txt": text }, ...update("a.txt", "@@", ` ${context}`, "-two", "+2"))
    expect(files["a.txt"]).toBe(`${first}\n${second.replace("two", "2")}\n`)
    expect(hunks).toMatchObject([{ matched }])
  })

  it("shifts new lines as the place is shifted", async () => {
    const { files } = await patch(
      { "a.py": "class A:\n\tdef f(self):\n\t\treturn 1\n" },
      ...update("a.py", "@@", " def f(self):", "-\treturn 1", "+\tx = 2", "+\treturn x")
    )
    expect(files["a.py"]).toBe("class A:\n\tdef f(self):\n\t\tx = 2\n\t\treturn x\n")
  })

  it.each([
    ["12\tone", "13\ttwo"],
    ["12: one", "13: two"],
    ["12→one", "13→two"],
    ["12| one", "13| two"]
  ])("leaves out a reader's line numbers (%s), with a warning", async (first, second) => {
    const { files, warnings } = await patch(
      { "a.txt": "one\ntwo\n" },
      ...update("a.txt", "@@", ` ${first}`, `-${second}`, "+2")
    )
    expect(files["a.txt"]).toBe("one\n2\n")
    expect(warnings).toHaveLength(1)
  })

  it("takes only numbers of the hunk's own lines for a reader's", async () => {
    const { files } = await patch(
      { "a.yml": "ports:\nnone\n" },
      ...update("a.yml", "@@", " 12\tports:", "-13\tnone", "+13\t80: web", "+443: tls", "+99\ttab")
    )
    expect(files["a.yml"]).toBe("ports:\n80: web\n443: tls\n99\ttab\n")
  })

  it("warns of a line that stands for text left out", async () => {
    const { warnings } = await patch({}, "*** Add File: a.js", "+// ... rest of the code ...")
    expect(warnings).toEqual([expect.stringContaining("looks like text left out")])
  })

  it("says where a hunk comes closest and what differs there", async () => {
    const { error } = await patch(
      { "a.js": "function f() {\n  const a = 1\n  return a\n}\n" },
      ...update("a.js", "@@", " function f() {", "-  const a = 2", "+  const a = 3", "   return a")
    )
    expect(error?.details).toMatchObject({
      nearest_line: 1,
      differs_at: 2,
      expected: "  const a = 2",
      found: "  const a = 1"
    })
  })
})

describe("envelope patches: bytes", () => {
  it("keeps CRLF throughout", async () => {
    const { files } = await patch(
      { "a.txt": "one\r\ntwo\r\nthree\r\n" },
      ...update("a.txt", "@@", " one", "-two", "+2", "+2b", " three")
    )
    expect(files["a.txt"]).toBe("one\r\n2\r\n2b\r\nthree\r\n")
  })

  it("keeps each line's own end in a mixed file", async () => {
    const { files } = await patch(
      { "a.txt": "one\r\ntwo\nthree\r\n" },
      ...update("a.txt", "@@", "-one", "-two", "-three", "+1", "+2", "+3")
    )
    expect(files["a.txt"]).toBe("1\r\n2\n3\r\n")
  })

  it("matches a first line behind a byte order mark, and keeps the mark", async () => {
    const { files } = await patch({ "a.txt": "\uFEFFone\ntwo\n" }, ...update("a.txt", "@@", "-one", "+1"))
    expect(files["a.txt"]).toBe("\uFEFF1\ntwo\n")
  })

  it("keeps a missing last newline missing", async () => {
    const { files } = await patch({ "a.txt": "one\ntwo" }, ...update("a.txt", "@@", " one", "-two", "+2"))
    expect(files["a.txt"]).toBe("one\n2")
  })

  it("changes a Latin-1 file as Latin-1, and refuses what Latin-1 does not have", async () => {
    await using tools = await openTools({ "a.txt": Buffer.from("caf\xe9\nth\xe9\n", "latin1") })
    const call = (added: string) =>
      tools.call("apply_patch", {
        patch: `*** Begin Patch\n*** Update File: a.txt\n@@\n café\n-thé\n+${added}\n*** End Patch`
      })
    expect(await call("→")).toMatchObject({ ok: false, error: { code: "write_failed" } })
    expect(await call("tè")).toMatchObject({ ok: true })
    expect(tools.workspace.bytes("a.txt")).toEqual(Buffer.from("caf\xe9\nt\xe8\n", "latin1"))
  })

  it("changes UTF-16 text", async () => {
    await using tools = await openTools({ "a.txt": Buffer.from("\uFEFFone\r\ntwo\r\n", "utf16le") })
    await tools.call("apply_patch", {
      patch: "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2 →\n*** End Patch"
    })
    expect(tools.workspace.bytes("a.txt")).toEqual(Buffer.from("\uFEFFone\r\n2 →\r\n", "utf16le"))
  })

  it("inserts $& and other replacement patterns literally", async () => {
    const { files } = await patch({ "a.txt": "x\n" }, ...update("a.txt", "@@", "-x", "+$& $1 $$ $`"))
    expect(files["a.txt"]).toBe("$& $1 $$ $`\n")
  })

  it("changes a line of one megabyte", async () => {
    const long = "x".repeat(1_000_000)
    const { files } = await patch({ "a.txt": `${long}\nend\n` }, ...update("a.txt", "@@", `-${long}`, `+${long}y`))
    expect(files["a.txt"]).toBe(`${long}y\nend\n`)
  })

  it("applies a thousand hunks", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`)
    const hunks = Array.from({ length: 1000 }, (_, index) => ["@@", `-line ${index * 5}`, `+changed ${index}`]).flat()
    const { files } = await patch({ "a.txt": `${lines.join("\n")}\n` }, ...update("a.txt", ...hunks))
    expect(files["a.txt"]).toBe(
      `${lines.map((line, index) => (index % 5 === 0 ? `changed ${index / 5}` : line)).join("\n")}\n`
    )
  })
})
