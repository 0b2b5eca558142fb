import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

interface Result {
  readonly result?: { readonly edits: ReadonlyArray<object>; readonly warnings: ReadonlyArray<string> }
  readonly error?: { readonly code: string }
}

const edit = async (file: string, find: string, replace: string, more: object = {}) => {
  await using tools = await openTools({ f: file })
  const { all, ...rest } = more as { all?: boolean }
  const reply = (await tools.call("edit_file", {
    path: "f",
    edits: [{ find, replace, ...(all !== undefined && { all }) }],
    ...rest
  })) as Result
  return { ...reply, text: tools.workspace.read("f") }
}

const file = "one\ntwo\n  three\nfour\n"

describe("line numbers pasted in from a reader", () => {
  it.each([
    ["a tab", "     2\ttwo\n     3\t  three", "     2\ttwo\n     3\t  3"],
    ["an arrow", "2→two\n3→  three", "2→two\n3→  3"],
    ["a colon", "2: two\n3:   three", "2: two\n3:   3"],
    ["numbers in the text to find only", "2\ttwo\n3\t  three", "two\n  3"],
    ["a newline at the end", "2\ttwo\n3\t  three\n", "2\ttwo\n3\t  3\n"],
    ["CRLF", "2\ttwo\r\n3\t  three", "2\ttwo\r\n3\t  3"]
  ])("are left out, and reported: %s", async (_what, find, replace) => {
    const { text, result } = await edit(file, find, replace)
    expect(text).toBe("one\ntwo\n  3\nfour\n")
    expect(result).toMatchObject({
      edits: [{ matched: "line_numbers", replaced: 1, line: 2 }],
      warnings: ["line 2: line numbers pasted in from a reader were left out"]
    })
  })

  it("are left out of a single line where it stands at that number", async () => {
    expect((await edit(file, "2\ttwo", "2\t2")).text).toBe("one\n2\nthree\nfour\n".replace("three", "  three"))
    const { error, text } = await edit(file, "3\ttwo", "3\t2")
    expect([error?.code, text]).toEqual(["match_not_found", file])
  })

  it.each([
    ["part of a line", "2\ttw\n3\t  thr", "x"],
    ["numbers that do not count up", "2\ttwo\n4\t  three", "x"],
    ["lines that stand twice", "1\ta\n2\tb", "x"]
  ])("are not left out of %s", async (_what, find, replace) => {
    const before = `${file}a\nb\na\nb\n`
    const { error, text } = await edit(before, find, replace)
    expect([error?.code, text]).toEqual(["match_not_found", before])
  })

  it("stay where they are part of the file, and where the call says exact or all", async () => {
    expect((await edit("1: a\n2: b\na\nb\n", "1: a\n2: b", "1: c")).text).toBe("1: c\na\nb\n")
    expect((await edit(file, "1\tone\n2\ttwo", "x", { exact: true })).error?.code).toBe("match_not_found")
    expect((await edit(file, "1\tone\n2\ttwo", "x", { all: true })).error?.code).toBe("match_not_found")
  })
})

describe("HTML escapes", () => {
  it("are read as characters where both texts are escaped throughout, and reported", async () => {
    const { text, result } = await edit(
      'if (a < b && c > "d") x()\n',
      "if (a &lt; b &amp;&amp; c &gt; &quot;d&quot;)",
      "if (a &lt;= b &amp;&amp; it&#39;s)"
    )
    expect(text).toBe("if (a <= b && it's) x()\n")
    expect(result).toMatchObject({
      edits: [{ matched: "html_escapes" }],
      warnings: ["line 1: HTML escapes were read as the characters they stand for"]
    })
  })

  it("are read once only", async () => {
    expect((await edit("x &lt; y\n", "x &amp;lt; y", "x &amp;gt; y")).text).toBe("x &gt; y\n")
  })

  it.each([
    ["the replacement has characters as they are", "a &lt; b", "<i>&lt;</i>"],
    ["the text to find has characters as they are", "a < b &amp;&amp; c", "x"],
    ["the text stands twice", "p &lt; q", "x"]
  ])("are not read where %s", async (_what, find, replace) => {
    const before = "a < b\na < b && c\np < q\np < q\n"
    const { error, text } = await edit(before, find, replace)
    expect([error?.code, text]).toEqual(["match_not_found", before])
  })

  it("stay where the file has them", async () => {
    expect((await edit("<p>a &lt; b</p> a < b\n", "a &lt; b", "a &gt; b")).text).toBe("<p>a &gt; b</p> a < b\n")
  })
})
