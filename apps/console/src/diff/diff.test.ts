import { describe, expect, it } from "vitest"

import { changedPart } from "./changed-part.ts"
import { parseDiff, reversed } from "./diff.ts"

const same = (number: number, text: string) => ({ number, text, isChanged: false })
const changed = (number: number, text: string) => ({ number, text, isChanged: true })

describe("a unified diff", () => {
  it("read backwards is the diff of the way back", () => {
    const there = "--- a/x.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    const back = "--- /dev/null\n+++ b/x.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    expect(reversed(parseDiff(there))).toEqual(parseDiff(back))
  })

  it("is read side by side, replaced lines beside what replaces them", () => {
    const text = "--- a/x.txt\n+++ b/x.txt\n@@ -1,4 +1,4 @@ main\n one\n-two\n-three\n+TWO\n four\n+five\n"
    expect(parseDiff(text)).toEqual([
      {
        before: "x.txt",
        after: "x.txt",
        hunks: [
          {
            title: "main",
            rows: [
              { before: same(1, "one"), after: same(1, "one") },
              { before: changed(2, "two"), after: changed(2, "TWO") },
              { before: changed(3, "three") },
              { before: same(4, "four"), after: same(3, "four") },
              { after: changed(4, "five") }
            ]
          }
        ]
      }
    ])
  })

  it("shows a line beside the one it became, whatever was put before it", () => {
    const rows = (lines: string) => parseDiff(`--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n${lines}`)[0]?.hunks[0]?.rows
    expect(rows("-sum += price * count\n+const free = 1\n+sum += price * (count - free)\n")).toEqual([
      { after: changed(1, "const free = 1") },
      { before: changed(1, "sum += price * count"), after: changed(2, "sum += price * (count - free)") }
    ])
    expect(rows("-first\n-  return one\n+if (done) return\n+  second\n+    return one\n")).toEqual([
      { before: changed(1, "first"), after: changed(1, "if (done) return") },
      { after: changed(2, "  second") },
      { before: changed(2, "  return one"), after: changed(3, "    return one") }
    ])
  })

  it("of thousands of changed lines is shown at once", () => {
    const count = 20_000
    const lines = (sign: string) => Array.from({ length: count }, (_, index) => `${sign}line ${index}\n`).join("")
    const text = `--- a/x\n+++ b/x\n@@ -1,${count} +1,${count} @@\n${lines("-")}${lines("+")}`
    expect(parseDiff(text)[0]?.hunks[0]?.rows.length).toBe(count)
  })

  it("shows a removed line that looks like a header as what it is", () => {
    const text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop\n+++ keep\n same\n"
    const [file, ...others] = parseDiff(text)
    expect(others).toEqual([])
    expect(file?.hunks[0]?.rows).toEqual([
      { before: changed(1, "-- drop"), after: changed(1, "++ keep") },
      { before: same(2, "same"), after: same(2, "same") }
    ])
  })

  it("has as many files as it names, new and deleted ones too", () => {
    const text =
      "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    expect(parseDiff(text).map(({ before, after }) => [before, after])).toEqual([
      ["/dev/null", "new.txt"],
      ["old.txt", "/dev/null"]
    ])
  })

  it("may come without line numbers, and as an envelope", () => {
    const [file] = parseDiff("*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n")
    expect(file).toEqual({
      before: "a.txt",
      after: "a.txt",
      hunks: [{ title: "", rows: [{ before: { text: "x", isChanged: true }, after: { text: "y", isChanged: true } }] }]
    })
  })

  it.each(["", "not a diff", "--- a\nno plus", "@@ nonsense"])("that is none has no rows: %j", (text) => {
    expect(parseDiff(text).flatMap(({ hunks }) => hunks)).toEqual([])
  })
})

describe("the part that changed", () => {
  it.each([
    ["port = 80", "port = 8080", [9, 9]],
    ["port = 8080", "port = 80", [9, 11]],
    ["same", "same", [4, 4]],
    ["", "all", [0, 0]],
    ["aXb", "aYb", [1, 2]]
  ])("of %j against %j", (one, other, [start, end]) => {
    expect(changedPart(one, other)).toEqual({ start, end })
  })
})
