import * as fc from "fast-check"
import { expect, it } from "vitest"

import { findLines, LineIndex } from "./find-lines.ts"
import { allParts } from "./occurrences.ts"

it("LineIndex finds a run of lines wherever findLines does", () => {
  const lines = fc.array(fc.constantFrom("", "a", "b", "c"), { maxLength: 30 })
  const range = fc.option(fc.nat(30), { nil: undefined })
  fc.assert(
    fc.property(
      lines,
      fc.array(fc.constantFrom("", "a", "b", "d"), { maxLength: 4 }),
      range,
      range,
      (all, wanted, from, to) => {
        expect(allParts(LineIndex.inParts(all)).find(wanted, from, to)).toEqual(findLines(all, wanted, from, to))
      }
    ),
    { seed: 1 }
  )
})

it("LineIndex finds lines with more occurrences than it compares one by one", () => {
  const lines = Array.from({ length: 3000 }, (_, at) => (at === 2500 ? "x" : "a"))
  expect(allParts(LineIndex.inParts(lines)).find(["a", "a"], 2990)).toEqual(findLines(lines, ["a", "a"], 2990))
  expect(allParts(LineIndex.inParts(lines)).find(["a", "x", "a"])).toEqual([2499])
})
