import { cliagent } from "@haft/dialects"
import type { Fixture } from "@haft/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"
import { TextFile } from "../text-file.ts"
import { replacementFor } from "./edit-text.ts"
import { findText } from "./find-text.ts"

interface Result {
  readonly ok: boolean
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> }
}

const edit = async (file: Fixture, edits: ReadonlyArray<object>, more: object = {}) => {
  await using tools = await openTools({ f: file })
  const reply = (await tools.call("edit_file", { path: "f", edits, ...more })) as Result
  return {
    reply,
    error: reply.error,
    result: reply.result,
    bytes: Buffer.from(tools.workspace.bytes("f")),
    text: tools.workspace.read("f")
  }
}

describe("edit-text", () => {
  it("replaces what is unique, and reports what a model needs to go on", async () => {
    const { text, result } = await edit("one\ntwo\nthree\n", [{ find: "two", replace: "2\n2b" }])
    expect(text).toBe("one\n2\n2b\nthree\n")
    expect(result).toEqual({
      path: "f",
      changed: true,
      fingerprint: expect.any(String) as string,
      edits: [{ matched: "exact", replaced: 1, line: 2 }],
      lines: [{ start: 2, end: 3 }],
      snippet: "     1\tone\n     2\t2\n     3\t2b\n     4\tthree",
      warnings: []
    })
  })

  it("makes each edit on the result of the one before", async () => {
    const { text } = await edit("a\n", [
      { find: "a", replace: "b\nc" },
      { find: "b\nc", replace: "d" }
    ])
    expect(text).toBe("d\n")
  })

  it("changes nothing when one of several edits does not fit", async () => {
    const { text, error } = await edit("a\nb\n", [
      { find: "a", replace: "x" },
      { find: "zzz", replace: "y" }
    ])
    expect(text).toBe("a\nb\n")
    expect(error).toMatchObject({ code: "match_not_found" })
    expect(error?.message).toContain("edit 2")
    expect(error?.message).toContain("nothing was changed")
  })

  it("refuses a text that stands twice, lists the lines, and never loosens", async () => {
    const { text, error } = await edit("x = 1\nx = 1\nx  = 1;\n", [{ find: "x = 1", replace: "x = 2" }])
    expect(text).toBe("x = 1\nx = 1\nx  = 1;\n")
    expect(error).toMatchObject({ code: "match_not_unique", details: { matches: 2, lines: [1, 2] } })
  })

  it("counts places that overlap", async () => {
    expect((await edit("aaa\n", [{ find: "aa", replace: "b" }])).error).toMatchObject({
      code: "match_not_unique",
      message: expect.stringMatching(/stands at 2 places in .*, on line 1; nothing was changed$/)
    })
  })

  it("replaces every place when asked to", async () => {
    const { text, result } = await edit("aa b aa\naa\n", [{ find: "aa", replace: "a", all: true }])
    expect(text).toBe("a b a\na\n")
    expect(result).toMatchObject({ edits: [{ replaced: 3 }] })
  })

  it("inserts $& and other replacement patterns literally", async () => {
    expect((await edit("x\n", [{ find: "x", replace: "$& $$ $1 $`" }])).text).toBe("$& $$ $1 $`\n")
  })

  it("matches LF against CRLF, and writes CRLF", async () => {
    const { text, result } = await edit("one\r\ntwo\r\nthree\r\n", [{ find: "one\ntwo", replace: "1\n1b\n2" }])
    expect(text).toBe("1\r\n1b\r\n2\r\nthree\r\n")
    expect(result).toMatchObject({ edits: [{ matched: "line_endings" }] })
  })

  it("writes CRLF when only the replacement has several lines, also on a last line", async () => {
    expect((await edit("one\r\ntwo", [{ find: "two", replace: "2\n3" }])).text).toBe("one\r\n2\r\n3")
  })

  it("changes line ends when the caller spells them out", async () => {
    expect((await edit("a\r\nb\r\n", [{ find: "\r\n", replace: "\n", all: true }])).text).toBe("a\nb\n")
  })

  it.each([
    ["spaces at line ends", "if x:  \n    y\n", "if x:\n    y", "trailing_space", "z\n"],
    ["look-alike characters", "say \u201chi\u201d \u2013 ok\n", 'say "hi" - ok', "look_alikes", "z\n"]
  ])("forgives %s, and reports it", async (_what, file, find, matched, after) => {
    const { text, result } = await edit(file, [{ find, replace: "z" }])
    expect(text).toBe(after)
    expect(result).toMatchObject({ edits: [{ matched }] })
  })

  it("forgives the indentation of a whole block, and shifts what it writes", async () => {
    const { text, result } = await edit("class A:\n    def f(self):\n        return 1\n", [
      { find: "def f(self):\n    return 1", replace: "def f(self):\n    x = 2\n\n    return x" }
    ])
    expect(text).toBe("class A:\n    def f(self):\n        x = 2\n\n        return x\n")
    expect(result).toMatchObject({ edits: [{ matched: "indentation" }] })
  })

  it("indents new lines by the old ones, and refuses an indentation that those do not tell", async () => {
    const file = "  a\n        b\n"
    expect((await edit(file, [{ find: "a\n  b", replace: "x\n  y" }])).text).toBe("  x\n        y\n")
    const { text, error } = await edit(file, [{ find: "a\n  b", replace: "a\n    c" }])
    expect([text, error?.code]).toEqual([file, "match_not_found"])
    expect(error?.message).toContain("does not tell how the replacement should be spaced")
  })

  it.each([
    ["in the text to find", "a\r\nb", "c\nd"],
    ["in the replacement", "a\nb", "c\r\nd"],
    ["in both", "a\r\nb", "c\r\nd"]
  ])("keeps the line ends of the file when CRLF stands %s", async (_where, find, replace) => {
    for (const more of [{}, { exact: true }]) {
      expect((await edit("a\nb\ne\n", [{ find, replace }], more)).text).toBe("c\nd\ne\n")
      expect((await edit("a\r\nb\r\ne\r\n", [{ find, replace }], more)).text).toBe("c\r\nd\r\ne\r\n")
      expect((await edit("a\rb\re\r", [{ find, replace }], more)).text).toBe("c\rd\re\r")
    }
    await using tools = await openTools({ f: "a\nb\ne\n" }, { dialect: cliagent })
    await tools.call("replace_string_in_file", { path: "f", old_string: find, new_string: replace })
    expect(tools.workspace.read("f")).toBe("c\nd\ne\n")
  })

  it("takes a carriage return and a line feed as one when the text to find begins with a line feed", async () => {
    expect((await edit("a\r\nb\r\n", [{ find: "\nb", replace: "\nx\nb" }])).text).toBe("a\r\nx\r\nb\r\n")
  })

  it("leaves a replacement alone that has the indentation of the file, when only the text to find lost it", async () => {
    const file = "class A:\n    def f(self):\n        return 1\n"
    const replace = "    def f(self):\n        x = 2\n        return x"
    expect((await edit(file, [{ find: "def f(self):\n    return 1", replace }])).text).toBe(`class A:\n${replace}\n`)
    const list = "[\n    a,\n]\n"
    expect((await edit(list, [{ find: "a,\n", replace: "    a,\n    b,\n" }])).text).toBe("[\n    a,\n    b,\n]\n")
    expect((await edit(list, [{ find: "a,", replace: "    a," }])).text).toBe("[\n        a,\n]\n")
  })

  it.each([
    [
      "spaces for tabs",
      "\tif x:\n\t\ty\n",
      "    if x:\n        y",
      "    if x:\n        z\n            w",
      "\tif x:\n\t\tz\n\t\t\tw\n"
    ],
    ["tabs for spaces", "  if x:\n    y\n", "\tif x:\n\t\ty", "\tif x:\n\t\tz", "  if x:\n    z\n"]
  ])("writes the indentation of the file when a request has %s", async (_what, file, find, replace, after) => {
    const { text, result } = await edit(file, [{ find, replace }])
    expect(text).toBe(after)
    expect(result).toMatchObject({ edits: [{ matched: "indentation" }], warnings: [expect.any(String)] })
  })

  it("forgives how words are spaced, and keeps the spacing of lines that stay", async () => {
    const { text, result } = await edit("a  =  1\nb = 2  # two\n", [
      { find: "a = 1\nb = 2 # two", replace: "a = 1\nb = 3 # three" }
    ])
    expect(text).toBe("a  =  1\nb = 3 # three\n")
    expect(result).toMatchObject({ edits: [{ matched: "spacing" }] })
  })

  it("forgives blank lines between lines that stay, and keeps those of the file", async () => {
    const { text, result } = await edit("a()\n\nb()\nc()\n", [{ find: "a()\nb()\nc()", replace: "a()\nb()\nd()" }])
    expect(text).toBe("a()\n\nb()\nd()\n")
    expect(result).toMatchObject({ edits: [{ matched: "blank_lines" }] })
    const more = await edit("a()\nb()\nc()\n", [{ find: "a()\n\nb()\nc()", replace: "a()\nb()\nd()" }])
    expect(more.text).toBe("a()\nb()\nd()\n")
  })

  it.each([
    ["before a line that is replaced", "a\n\nb\nc\n", "a\nb\nc", "a\nB\nc", "a\n\nB\nc\n"],
    ["behind a line that is replaced", "a\nb\n\nc\n", "a\nb\nc", "a\nB\nc", "a\nB\n\nc\n"],
    ["between two lines that are replaced", "a\nb\n\nc\n", "a\nb\nc", "a\nB\nC", "a\nB\n\nC\n"],
    ["behind a line that is inserted", "a\n\nb\nc\n", "a\nb\nc", "a\nnew\nb\nc", "a\nnew\n\nb\nc\n"],
    ["around a line that is deleted", "a\n\nb\n\nc\n", "a\nb\nc", "a\nc", "a\n\nc\n"],
    ["that only the text to find has", "a\nb\nc\n", "a\n\nb\nc", "a\nB\nc", "a\nB\nc\n"],
    ["that the text to find has too many of", "a\n\nb\nc\n", "a\n\n\nb\nc", "a\n\nB\nc", "a\n\nB\nc\n"],
    ["that the replacement adds", "a\nb\n\nc\n", "a\nb\nc", "a\n\nb\nC", "a\n\nb\n\nC\n"],
    ["that are new, behind a new line", "a\nb\nc\n", "a\n\nb\nc", "a\nnew\n\nb\nc", "a\nnew\n\nb\nc\n"]
  ])("places lines that differ in blank lines %s", async (_where, before, find, replace, after) => {
    const { text, result } = await edit(before, [{ find, replace }])
    expect([text, result]).toMatchObject([after, { edits: [{ matched: "blank_lines" }] }])
  })

  it("does not take a brace at another depth for the one that is meant", async () => {
    const before = "a {\n  b {\n    c()\n    }\n  }\n}\nend()\n"
    const { text, error } = await edit(before, [{ find: "    }\n  }\nend()", replace: "    }\n  }\n}\n\nend()" }])
    expect([text, error?.code]).toEqual([before, "match_not_found"])
  })

  it("leaves spaces at line ends with the lines that have them", async () => {
    const { text } = await edit("one  \ntwo  \nthree\n", [{ find: "one\ntwo", replace: "one\ntwo\nmore" }])
    expect(text).toBe("one  \ntwo  \nmore\nthree\n")
    const last = await edit("one  \ntwo  \n", [{ find: "one\ntwo", replace: "one\n2" }])
    expect(last.text).toBe("one  \n2\n")
  })

  it("takes plain quotes of both kinds where the file has plain quotes for curly ones", async () => {
    const { text } = await edit("say('a')\nend\n", [
      { find: "say(\u2019a\u2019)\nend", replace: "say(\u2019a\u2019)\nsay(\u201Db\u201D, \u2018c\u2019) \u2013\nend" }
    ])
    expect(text).toBe("say('a')\nsay(\"b\", 'c') \u2013\nend\n")
  })

  it.each([
    [
      "by most lines, though braces stand at several depths",
      "\tif a {\n\t\tif b {\n\t\t\treturn x\n\t\t}\n\t}\n",
      "if a {\n\tif b {\n\t\treturn x\n\t}\n}",
      "if a {\n\tif b {\n\t\treturn y\n\t}\n}",
      "\tif a {\n\t\tif b {\n\t\t\treturn y\n\t\t}\n\t}\n"
    ],
    [
      "as that of the file, though only the text to find lost it",
      "\tif a {\n\t\tif b {\n\t\t\treturn x\n\t\t}\n\t}\n",
      "if a {\n\tif b {\n\t\treturn x\n\t}\n}",
      "\tif a {\n\t\tif b {\n\t\t\treturn y\n\t\t}\n\t}",
      "\tif a {\n\t\tif b {\n\t\t\treturn y\n\t\t}\n\t}\n"
    ],
    [
      "in spaces, where the request has tabs",
      "def f():\n    return 1\n\nend\n",
      "def f():\n\treturn 1\n\nend",
      "def f():\n\treturn 2\n\nend",
      "def f():\n    return 2\n\nend\n"
    ]
  ])("tells the indentation of new lines %s", async (_how, before, find, replace, after) => {
    const { text } = await edit(before, [{ find, replace }])
    expect(text).toBe(after)
  })

  it("hands over the text to find as the file has it, where most of it stands", async () => {
    const { error } = await edit("one\ntwo\nthree\n", [{ find: "one\nzwei\nthree", replace: "x" }])
    expect(error?.details).toMatchObject({ nearest_line: 1, repaired: { find: "one\ntwo\nthree" } })
  })

  it("writes look-alike characters of the request as the file has them", async () => {
    const { text } = await edit('say "hi"\nend\n', [{ find: "say \u201Dhi\u201D", replace: "say \u201Dho\u201D" }])
    expect(text).toBe('say "ho"\nend\n')
  })

  it("keeps the spaces at line ends of lines that stay, among new lines that look the same", async () => {
    const { text } = await edit("f {  \n}  \ng {  \n}  \n", [
      { find: "f {\n}\ng {\n}", replace: "f {\n}\nnew {\n}\ng {\n}" }
    ])
    expect(text).toBe("f {  \n}  \nnew {\n}\ng {  \n}  \n")
  })

  it("does not guess which spaces of a new line were tabs", async () => {
    const file = "name\t= 1\n"
    const { text, error } = await edit(file, [{ find: "name    = 1", replace: "name    = 2" }])
    expect([text, error?.code]).toEqual([file, "match_not_found"])
  })

  it("finds an edit of spacing alone only where its spacing stands", async () => {
    const file = "        foo()\n"
    const { text, error } = await edit(file, [{ find: "  foo()\nbar", replace: "    foo()\n    bar" }])
    expect([text, error?.code]).toEqual([file, "match_not_found"])
  })

  it("refuses an edit that is made already, unless it is to be exact", async () => {
    const change = [{ find: "import a\n", replace: "import a\nimport b\n" }]
    const { text, error } = await edit("import a\nimport b\n", change)
    expect([text, error?.code]).toEqual(["import a\nimport b\n", "already_applied"])
    expect((await edit("import a\nimport b\n", change, { exact: true })).text).toBe("import a\nimport b\nimport b\n")
    const gone = await edit("const total = 2\n", [{ find: "const sum = 1", replace: "const total = 2" }])
    expect(gone.error).toMatchObject({ code: "match_not_found", details: { replacement_line: 1 } })
  })

  it("forgives nothing when it is to be exact", async () => {
    const { error } = await edit("a  \nb\n", [{ find: "a\nb", replace: "x" }], { exact: true })
    expect(error?.code).toBe("match_not_found")
  })

  it.each([
    ["a number that goes on", "x = 10\n", "x = 1  "],
    ["a word that goes on", "foo\nbarrel\n", "foo\nbar "],
    ["a blank text in an empty file", "", "   "],
    ["a blank line without its spaces", "a\nb\n", "  \n"]
  ])("does not take spaces at a line's end for %s", async (_what, file, find) => {
    const { text, error } = await edit(file, [{ find, replace: "z" }])
    expect(text).toBe(file)
    expect(error?.code).toBe("match_not_found")
  })

  it("finds a text loosely at the file's first and last line, and keeps a byte order mark", async () => {
    expect((await edit("\uFEFFif x:  \n    y", [{ find: "if x:\n    y", replace: "z" }])).text).toBe("\uFEFFz")
    expect((await edit("\uFEFF  a\n  b\n", [{ find: "a\nb\n", replace: "c\n" }])).text).toBe("\uFEFF  c\n")
    expect((await edit("a  \r\nb\r\n", [{ find: "a\nb\n", replace: "c\nd\n" }])).text).toBe("c\r\nd\r\n")
  })

  it("counts places beyond number without keeping them, and refuses to replace them all", async () => {
    const file = "e".repeat(1_100_000)
    const once = await edit(file, [{ find: "e", replace: "x" }])
    expect(once.error).toMatchObject({ code: "match_not_unique", details: { matches: 1_100_000 } })
    const all = await edit(file, [{ find: "e", replace: "x", all: true }])
    expect(all.error).toMatchObject({ code: "file_too_large", details: { matches: 1_100_000 } })
  })

  it("finds no match for long repetitive text before it times out", async () => {
    const file = "same same\n".repeat(50_000)
    const find = `nope\n${"same same\n".repeat(20_000)}`
    for (const text of [find, `${find}end`, find.replaceAll("\n", " \n")]) {
      expect((await edit(file, [{ find: text, replace: "" }])).error?.code).toBe("match_not_found")
    }
  })

  it("finds what a slow search over every stretch of the file finds", () => {
    const text = fc.array(fc.constantFrom("a", "b", " ", "  ", "\t", "\n", "\r\n", "-", "\u2013"), { maxLength: 12 })
    const spellings = { exact: (one: string) => one, line_endings: (one: string) => one.replaceAll("\r\n", "\n") }
    fc.assert(
      fc.property(text, text, fc.constantFrom("exact", "line_endings"), (words, sought, pass) => {
        const [all, find] = [words.join(""), sought.join("")]
        const file = TextFile.decode(Buffer.from(all))
        if (file === undefined || find === "" || find.endsWith("\r")) return
        const found = findText(file, find, pass, { overlapping: true, keep: 100 }).places.map(({ start }) => start)
        const wanted = spellings[pass](find)
        const slow = Array.from({ length: all.length }, (_, start) => start).flatMap((start) => {
          if (pass === "line_endings" && all[start] === "\n" && all[start - 1] === "\r") return []
          const ends = Array.from({ length: all.length - start + 1 }, (_unused, length) => start + length)
          return ends.some((end) => all[end - 1] !== "\r" && spellings[pass](all.slice(start, end)) === wanted)
            ? [start]
            : []
        })
        const isWorthwhile = pass === "exact" || (find.includes("\n") && (all + find).includes("\r"))
        expect(found).toEqual(isWorthwhile ? slow : [])
      }),
      { numRuns: 3000, seed: 1 }
    )
  })

  it("wants a loose match to be unique too", async () => {
    const { error } = await edit("a \nb\na  \nb\n", [{ find: "a\nb", replace: "x" }])
    expect(error).toMatchObject({ code: "match_not_unique", details: { lines: [1, 3] } })
  })

  it("replaces every place only where each is exactly what was asked for", async () => {
    const file = "say \u2018a\u2019\nsay \u2018a\u2019\n"
    const { error, text } = await edit(file, [{ find: "say 'a'", replace: "b", all: true }])
    expect(error).toMatchObject({ code: "match_not_unique", details: { lines: [1, 2] } })
    expect(error?.message).toContain("not quite as given")
    expect(text).toBe(file)
    const once = await edit("say \u2018a\u2019\n", [{ find: "say 'a'", replace: "b", all: true }])
    expect([once.text, once.result?.["warnings"]]).toEqual(["b\n", [expect.stringContaining("look alikes")]])
    const crlf = await edit("a\r\nb\r\na\r\nb\r\n", [{ find: "a\nb\n", replace: "c\n", all: true }])
    expect(crlf.text).toBe("c\r\nc\r\n")
  })

  it("shows the nearest place and what differs, and writes nothing there", async () => {
    const { text, error } = await edit("function add(a, b) {\n  return a - b\n}\n", [
      { find: "function add(a, b) {\n  return a + b", replace: "x" }
    ])
    expect(text).toBe("function add(a, b) {\n  return a - b\n}\n")
    expect(error?.details).toEqual({
      path: "f",
      nearest_line: 1,
      differs_at: 2,
      expected: "  return a + b",
      found: "  return a - b"
    })
  })

  it("finds a similar line when no line is the same", async () => {
    const { error } = await edit("alpha\nconst total = sum(values)\nomega\n", [
      { find: "const total = sum(value)\n", replace: "" }
    ])
    expect(error?.details).toMatchObject({ nearest_line: 2 })
  })

  it("says so when only the end of the last line differs", async () => {
    const { error } = await edit("one\ntwo", [{ find: "two\n", replace: "2\n" }])
    expect(error?.message).toContain("its lines stand at line 2, but the last of them does not end as given")
  })

  it("says so when nothing is close", async () => {
    expect((await edit("a\n", [{ find: "completely different", replace: "" }])).error?.message).toContain(
      "nothing in the file is close"
    )
  })

  it("says that edits change nothing, and touches nothing", async () => {
    expect((await edit("a\n", [{ find: "a", replace: "a" }])).result).toMatchObject({ changed: false, lines: [] })
  })

  it("refuses a file that is no longer what was read", async () => {
    expect((await edit("a\n", [{ find: "a", replace: "b" }], { expected_fingerprint: "other" })).error?.code).toBe(
      "stale_file"
    )
  })

  it("warns of text that stands for text left out", async () => {
    const { result } = await edit("a\n", [{ find: "a", replace: "b\n# ... existing code ...\n" }])
    expect(result).toMatchObject({ warnings: [expect.stringContaining("existing code")] })
  })

  it("keeps a byte order mark, Latin-1 and UTF-16 as they are", async () => {
    const change = [{ find: "é", replace: "è" }]
    expect((await edit("\uFEFFcafé\n", change)).text).toBe("\uFEFFcafè\n")
    expect((await edit(Buffer.from("caf\xe9\r\n", "latin1"), change)).bytes).toEqual(
      Buffer.from("caf\xe8\r\n", "latin1")
    )
    expect((await edit(Buffer.from("\uFEFFcafé", "utf16le"), change)).bytes).toEqual(
      Buffer.from("\uFEFFcafè", "utf16le")
    )
  })

  it("refuses a character that the file's encoding does not have", async () => {
    const { error } = await edit(Buffer.from("caf\xe9\n", "latin1"), [{ find: "caf", replace: "→" }])
    expect(error).toMatchObject({ code: "write_failed" })
    expect(error?.message).toContain("latin-1")
  })

  it.each([
    ["an empty text to find", [{ find: "", replace: "x" }], "invalid_params"],
    ["no edits", [], "invalid_params"],
    ["an unknown key", [{ find: "a", replace: "b", regex: true }], "invalid_params"]
  ])("refuses %s", async (_what, edits, code) => {
    expect((await edit("a\n", edits)).error?.code).toBe(code)
  })

  it("cuts a long snippet short", async () => {
    const { result } = await edit("a\n", [
      { find: "a", replace: Array.from({ length: 100 }, (_, line) => `${line}`).join("\n") }
    ])
    expect(String(result?.["snippet"]).split("\n")).toHaveLength(41)
  })

  it("marks a gap between two changed places", async () => {
    const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n")
    const { result } = await edit(lines, [
      { find: "line 2\n", replace: "two\n" },
      { find: "line 20\n", replace: "twenty\n" }
    ])
    expect(String(result?.["snippet"])).toContain("\n…\n")
    expect(result?.["lines"]).toEqual([
      { start: 3, end: 3 },
      { start: 21, end: 21 }
    ])
  })

  it("is not kept busy by a text to find that is long, or has spaces by the hundred thousand", async () => {
    const spaces = " ".repeat(500_000)
    for (const find of [`${spaces}x\ny`, `x\n${spaces}x\ny`, `${"\t ".repeat(300_000)}x`, "x".repeat(10_000_000)]) {
      const { error, text } = await edit("one\ntwo\n", [{ find, replace: "" }])
      expect([error?.code, text]).toEqual(["match_not_found", "one\ntwo\n"])
    }
    const { text } = await edit("one\ntwo\n", [{ find: `one${spaces}\ntwo`, replace: "three" }])
    expect(text).toBe("three\n")
  })

  it("does not send a long text to find back", async () => {
    await using tools = await openTools({ f: "one\n" }, { dialect: cliagent })
    const call = { path: "f", old_string: "é".repeat(2_000_000), new_string: "" }
    const reply = (await tools.call("replace_string_in_file", call)) as { readonly output: string }
    expect(reply.output.length).toBeLessThan(2000)
    expect(reply.output).toMatch(/^Error: String 'é+…' not found in file$/)
  })

  it("leaves every byte outside the replaced text alone, whatever the file's line ends", () => {
    const line = fc.record({ text: fc.constantFrom("a", "b  ", "\tc", "é", ""), end: fc.constantFrom("\n", "\r\n") })
    const file = fc.array(line, { maxLength: 8 }).map((lines) => lines.map(({ text, end }) => text + end).join(""))
    fc.assert(
      fc.property(file, file, fc.constantFrom("new", "x\ny", "", "$&"), (before, after, replace) => {
        const text = TextFile.decode(Buffer.from(`${before}<<HERE>>${after}`))
        const options = { overlapping: true, keep: 1 }
        const found = text && findText(text, "<<HERE>>", "exact", options).places[0]
        const replacement = text && found && replacementFor(text, found, { find: "<<HERE>>", replace })
        if (replacement === undefined) throw new Error("the text to find is always there")
        const bytes = Buffer.concat(text?.replace([replacement]).encode() ?? [])
        const middle = bytes.toString().slice(before.length, bytes.toString().length - after.length)
        expect(bytes.toString().startsWith(before) && bytes.toString().endsWith(after)).toBe(true)
        expect(middle.replaceAll("\r\n", "\n")).toBe(replace)
      }),
      { numRuns: 300, seed: 1 }
    )
  })
})
