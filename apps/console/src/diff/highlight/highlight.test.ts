import { describe, expect, it } from "vitest"

import { highlightLines } from "./highlighter.ts"
import { languageOf } from "./language-of.ts"
import { markedPieces, tokenLines } from "./tokens.ts"

describe("highlighting", () => {
  it("keeps every character of every line, whatever the language makes of it", () => {
    const text = [
      'const a = `x ${1 < 2 && "</span>"} y`',
      "/* a comment",
      "over lines & <b>tags</b> */ return 'it''s'",
      "",
      "<script>alert(1)</script> &amp; \u202e"
    ].join("\n")
    for (const language of ["typescript", "python", "xml", "markdown", "bash", "json", "sql", "yaml"]) {
      const lines = highlightLines(text, language)
      expect(lines?.map((tokens) => tokens.map((token) => token.text).join("")).join("\n")).toBe(text)
    }
  })

  it("goes on over the lines of a comment", () => {
    const lines = highlightLines("/* one\ntwo */\nreturn 1", "javascript")
    expect(lines).toEqual([
      [{ text: "/* one", kind: "comment" }],
      [{ text: "two */", kind: "comment" }],
      [{ text: "return", kind: "keyword" }, { text: " " }, { text: "1", kind: "number" }]
    ])
  })

  it("is refused where the tokens would not show the text", () => {
    expect(tokenLines('<span class="hljs-string">a</span>', "b")).toBeUndefined()
    expect(tokenLines("<b>a</b>", "<b>a</b>")).toBeUndefined()
  })

  it.each([
    ["src/a.tsx", "typescript"],
    ["Dockerfile", "dockerfile"],
    ["docker/Makefile", "makefile"],
    ["notes.unknown", undefined],
    ["constructor", undefined],
    ["a.constructor", undefined],
    ["ts", undefined]
  ])("reads %s as %s", (path, language) => {
    expect(languageOf(path)).toBe(language)
  })

  it("splits tokens at the changed part of a line", () => {
    const tokens = [{ text: "let ", kind: "keyword" as const }, { text: "name = " }, { text: "1" }]
    expect(markedPieces(tokens, { start: 2, end: 8 })).toEqual([
      { text: "le", kind: "keyword", isMarked: false },
      { text: "t ", kind: "keyword", isMarked: true },
      { text: "name", isMarked: true },
      { text: " = ", isMarked: false },
      { text: "1", isMarked: false }
    ])
  })
})
