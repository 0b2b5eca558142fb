import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { RE2JS } from "re2js"

import { argumentPattern, markQuotes } from "./argument-pattern.ts"
import { InvalidExpression } from "./linear-expression.ts"
import { Effort } from "./match-budget.ts"
import { stableJson } from "./stable-json.ts"
import { jsonPieces } from "./stable-json.ts"

const fits = (pattern: string, value: unknown) => {
  const pieces = jsonPieces(value)
  return argumentPattern(pattern).matches({
    pieces: () => pieces,
    marked: () => markQuotes(pieces),
    effort: new Effort()
  })
}

describe("an expression over serialized arguments", () => {
  it.each([
    [String.raw`^{"path":".*\.txt"}$`, { path: "test.txt" }, "yes"],
    [String.raw`{"path":".*\.txt"}`, { path: "test.txt" }, "yes"],
    [String.raw`\A{"path":".*\.txt"}\z`, { path: "test.txt" }, "yes"],
    [String.raw`^{"path":".*\.txt"}$`, { path: "test.txt.sh" }, "no"],
    [String.raw`^{"path":".*\.txt"}$`, { path: "a.txt", content: "x" }, "no"],
    // the value of one field plays the end of the other
    [String.raw`^{"path":".*\.txt"}$`, { path: "evil.sh", content: "… #.txt" }, "no"],
    [String.raw`^{"path":"[^,]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"\S*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"[\s\S]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"[\W\w]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"[\D\d]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"(?s:.)*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"\P{Greek}*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"\p{^Greek}*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"[^\p{Greek}]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"[!-~]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^{"path":"["a-z:,.#]*\.txt"}$`, { path: "evil.sh", content: "#.txt" }, "no"],
    [String.raw`^.*$`, { path: "a" }, "no"],
    // a value with quotes of its own plays the next field
    [String.raw`^{"path":".*","mode":"safe"}$`, { path: 'x","mode":"safe' }, "no"],
    [String.raw`^{"path":".*".*"mode":"safe".*}$`, { path: 'x" "mode":"safe" ' }, "no"],
    [String.raw`^{"path":".*\\","mode":"safe"}$`, { path: 'x\\","mode":"safe' }, "no"],
    // quotes and backslashes that are meant
    [String.raw`^{"say":"\\"hi\\""}$`, { say: '"hi"' }, "yes"],
    [String.raw`^{"say":"a\\\\"}$`, { say: "a\\" }, "yes"],
    [String.raw`^{"say":"a\\\\","to":"b"}$`, { say: "a\\", to: "b" }, "yes"],
    [String.raw`^{"say":"a\\\\\\""}$`, { say: 'a\\"' }, "yes"],
    [String.raw`^{"say":"\Q"hi"\E"}$`, { say: '"hi"' }, "no"],
    [String.raw`^\Q{"say":"hi"}\E$`, { say: "hi" }, "yes"],
    [String.raw`^{\x22say\x22:\042hi\x{22}}$`, { say: "hi" }, "yes"],
    // unicode
    [String.raw`^{"path":"ä.*"}$`, { path: "ä😀" }, "yes"],
    [String.raw`^{"path":"a.c"}$`, { path: "a😀c" }, "yes"],
    [String.raw`^{"path":"\x{e4}"}$`, { path: "ä" }, "yes"],
    [String.raw`^{"path":".*"}$`, { path: "\u{10FFFF}" }, "yes"],
    [String.raw`^{"path":"a.*"(,"b":"c")?}$`, { path: "a\u{10FFFF},\u{10FFFF}b" }, "yes"],
    [String.raw`^{"path":"a"(,"b":"c")?}$`, { path: "a\u{10FFFF},\u{10FFFF}b\u{10FFFF}:\u{10FFFF}c" }, "no"],
    // structure
    [String.raw`^{"path":"a"(,"force":(true|false))?}$`, { path: "a", force: true }, "yes"],
    [String.raw`^{"path":"a"(,"force":(true|false))?}$`, { path: "a" }, "yes"],
    [String.raw`^{"path":"a"}$|^{"path":"b"}$`, { path: "b" }, "yes"],
    [String.raw`^{"paths":\[("[a-z]+",?)*\]}$`, { paths: ["a", "b"] }, "yes"],
    [String.raw`^{"paths":\[("[a-z]+",?)*\]}$`, { paths: ["a", "B"] }, "no"],
    [String.raw`(?i)^{"path":"README"}$`, { path: "readme" }, "yes"],
    [String.raw`^{"path":"(?i:README)"}$`, { path: "readme" }, "yes"],
    [String.raw`^{"n":\d+,"ok":true}$`, { n: 12, ok: true }, "yes"],
    [String.raw`^{"path":"^a"}$`, { path: "a" }, "no"],
    [String.raw`^{"path":"\bab\b"}$`, { path: "ab" }, "yes"],
    [String.raw`^{"path":"a{2}"}$`, { path: "aa" }, "yes"],
    ["^{}$", {}, "yes"]
  ] as const)("%s on %j: %s", (pattern, value, expected) => {
    expect(fits(pattern, value)).toBe(expected)
  })

  it.each([
    [String.raw`^{"path":"[\P{Greek}]*"}$`, "also matches the quotes"],
    [String.raw`^{"path":"[a-\x{10FFFF}]*"}$`, "also matches the quotes"],
    [String.raw`^{"path":"[[:^alpha:]]*"}$`, "also matches the quotes"],
    [String.raw`^{"path":"("}$`, "missing closing )"],
    [String.raw`^{"path":"(?=a)"}$`, "invalid"],
    [String.raw`^{"path":"\1"}$`, "invalid"],
    [String.raw`^{"path":"a{2000}"}$`, "invalid repeat count"],
    ["a".repeat(5000), "longer than 4096"]
  ])("refuses %s", (pattern, problem) => {
    expect(() => argumentPattern(pattern)).toThrow(InvalidExpression)
    expect(() => argumentPattern(pattern)).toThrow(problem)
  })

  it("does not say yes where finding out would take too long", () => {
    const pattern = String.raw`^{"content":"[ab]*a[ab]{200}"}$`
    expect(fits(pattern, { content: "ab".repeat(30_000) })).toBe("unknown")
    expect(fits(pattern, { content: "a".repeat(400) })).toBe("yes")
  })
})

const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", ",", ":", "{", "}", "a", "b", ".", "x", "\n", "\u{10FFFF}", "ä") }),
  fc.string({ unit: "binary", maxLength: 12 })
)
// Fragments without a quote: whatever they match must lie within one value.
const fragment = fc.constantFrom(
  ".*",
  ".+",
  "a.*b",
  String.raw`\S*`,
  String.raw`[\s\S]*`,
  "[^x]*",
  String.raw`\W*`,
  String.raw`(a|b|\\.|.)*`,
  String.raw`\PL*`,
  String.raw`.*\\`,
  ".{0,5}",
  "(?:.*,.*)?",
  "[!-~]*"
)

describe("a value can't imitate a key", () => {
  it("whatever the values: a pattern of fields matches those fields, each by its own fragment", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("path", "content", "mode"), fragment), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("path", "content", "mode"), hostile, { noNullPrototype: true }),
        (parts, value) => {
          const pattern = `^{${parts.map(([key, part]) => `"${key}":"${part}"`).join(",")}}$`
          const entries = Object.entries(value)
          const expected =
            entries.length === parts.length &&
            entries.every(([key, text], place) => {
              const [wanted, part] = parts[place] ?? ["", ""]
              return key === wanted && fitsPlainly(part, stableJson(text).slice(1, -1))
            })
          expect(fits(pattern, value)).toBe(expected ? "yes" : "no")
        }
      ),
      { numRuns: 3000, seed: 1 }
    )
  })

  it("and both ways of matching agree: cut at the quotes, and as one expression", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("path", "content"), fragment), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("path", "content"), hostile, { noNullPrototype: true }),
        (parts, value) => {
          const inner = parts.map(([key, part]) => `"${key}":"${part}"`).join(",")
          expect(fits(`^({${inner}})$`, value)).toBe(fits(`^{${inner}}$`, value))
        }
      ),
      { numRuns: 2000, seed: 2 }
    )
  })

  it("and hardening only ever narrows: what it matches, the plain reading matches too", () => {
    const piece = fc.oneof(
      fragment,
      fc.constantFrom('"', '{"path":"', '"}', '","', ":", '("|a)', '"?', String.raw`\\"`)
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.dictionary(fc.constantFrom("path", "mode"), hostile, { noNullPrototype: true }),
        (pieces, value) => {
          const pattern = pieces.join("")
          return fits(pattern, value) !== "yes" || fitsPlainly(pattern, stableJson(value))
        }
      ),
      { numRuns: 3000, seed: 3 }
    )
  })
})

// The same engine without any hardening.
const fitsPlainly = (pattern: string, text: string): boolean => RE2JS.compile(pattern).testExact(text)
