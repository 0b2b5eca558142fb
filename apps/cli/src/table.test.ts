import { expect, it } from "vitest"

import { table, wrapped } from "./table.ts"

it("breaks a line between words, and not inside one that is too long", () => {
  expect(wrapped("  --json  for machines, and a-word-without-end here", 10, 24)).toBe(
    "  --json  for machines,\n          and\n          a-word-without-end\n          here"
  )
})

it("keeps columns straight beside signs that take two columns or none", () => {
  const rows = [
    ["日本語", "one"],
    ["e\u0301", "two"],
    ["👨‍👩‍👧", "three"],
    ["plain", "four"]
  ]
  expect(table(rows)).toBe("日本語  one\ne\u0301       two\n👨‍👩‍👧      three\nplain   four")
})

it("cuts a last column that is too long, between signs", () => {
  expect(table([["a", "日本語の長い名前があるファイル"]], {}, 20)).toBe("a  日本語の長い名前…")
})

it("puts the last column below the others where they leave it no room", () => {
  const rows = [["name-of-something", "dangerous", "what it does, in a sentence"]]
  expect(table(rows, {}, 30)).toBe("name-of-something  dangerous\n    what it does, in a senten…")
  expect(table(rows, { goesOn: true }, 30)).toBe("name-of-something  dangerous\n    what it does, in a\n    sentence")
})
