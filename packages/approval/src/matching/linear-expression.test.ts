import * as fc from "fast-check"
import { RE2JS } from "re2js"
import { describe, expect, it } from "vitest"

import { linearExpression, linearSearch } from "./linear-expression.ts"
import { Effort } from "./match-budget.ts"

const piece = fc.constantFrom(
  "secret",
  "Key",
  "ſ",
  "é",
  "😀",
  '"path":"',
  ".",
  ".*",
  "[a-z]+",
  "(?:ab|c)?",
  "(x|key)",
  "s{2}",
  "k?",
  "s+",
  "|",
  String.raw`\.`,
  String.raw`\x{17f}`,
  String.raw`\QS.*\E`,
  "(?i:s)",
  "(?i)",
  "(?-i)",
  "$"
)
const pattern = fc
  .tuple(fc.constantFrom("", "(?i)", "^"), fc.array(piece, { minLength: 1, maxLength: 5 }))
  .map(([start, pieces]) => start + pieces.join(""))
const text = fc.array(
  fc.constantFrom(
    "secret",
    "SECRET",
    "ſecret",
    "\u212Aey",
    "key",
    "é",
    "É",
    "😀",
    "ab",
    "ss",
    "S.*",
    '"path":"',
    ".",
    "\n"
  ),
  { maxLength: 8 }
)
const short = text.map((pieces) => pieces.join(""))
const long = text.map((pieces) => "filler 0123 ".repeat(200) + pieces.join(""))

describe("an expression", () => {
  it("finds what the engine finds, however it is read before", () => {
    fc.assert(
      fc.property(pattern, fc.oneof(short, long), (source, subject) => {
        expect([linearSearch(source)(subject), linearExpression(source)(subject)]).toEqual(
          [RE2JS.compile(source).test(subject), RE2JS.compile(source).testExact(subject)].map((fit) =>
            fit ? "yes" : "no"
          )
        )
      }),
      { numRuns: 1000, seed: 1 }
    )
  })

  it("whose plain text is missing is decided, however long the text is", () => {
    const content = "x".repeat(10_000_000)
    expect(linearSearch('"path":"secret/.*"')(content)).toBe("no")
    expect(linearExpression("[ab]*needle[ab]{1,200}")(content)).toBe("no")
    expect(linearSearch("(?i)secret")(content)).toBe("no")
    expect(linearSearch("(?i)SECRET KEY")("my ſecret \u212Aey")).toBe("yes")
    expect(linearSearch("[ab]+c{200}")(content)).toBe("unknown")
  })

  it("shares its time with all others of the same decision", () => {
    const effort = new Effort()
    const test = linearSearch("[ab]+[cd]")
    const content = "ab".repeat(20_000)
    const fits = Array.from({ length: 100 }, () => test(content, effort))
    expect(fits[0]).toBe("no")
    expect(fits.at(-1)).toBe("unknown")
    expect(test(content)).toBe("no")
  })
})
