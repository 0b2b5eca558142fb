import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { parseUnifiedDiff } from "./apply-patch/parse/parse-unified-diff.ts"
import { placeHunks } from "./apply-patch/place/place-hunk.ts"
import { TextFile } from "./text-file.ts"
import { unifiedDiff } from "./unified-diff.ts"

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d", "", "--- x", "+++ y", "@@ z", "e\r"), { maxLength: 30 })
  .chain((lines) => fc.boolean().map((last) => lines.join("\n") + (last && lines.length > 0 ? "\n" : "")))

const applied = (before: TextFile, diff: string): string =>
  Effect.runSync(
    Effect.gen(function* () {
      const [section] = yield* parseUnifiedDiff(diff)
      if (section?.kind !== "update") return "no update"
      const { replacements } = yield* placeHunks("f", before, section.hunks)
      return before.replace(replacements).text
    })
  )

const diffOf = (before: string, after: string): string =>
  unifiedDiff({ oldPath: "f", newPath: "f", before: TextFile.of(before), after: TextFile.of(after) })

describe("unifiedDiff", () => {
  it("prints what our own patch engine turns back into the new text", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after)
        expect(applied(TextFile.of(before), diffOf(before, after))).toBe(after)
      }),
      { numRuns: 1000, seed: 1 }
    )
  })

  it("shows three lines of context, and joins changes that are close", () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`)
    const changed = lines.with(9, "ten\n").with(14, "fifteen\n").with(28, "twenty-nine\n")
    expect(diffOf(lines.join(""), changed.join(""))).toBe(
      [
        "--- a/f",
        "+++ b/f",
        "@@ -7,12 +7,12 @@",
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+ten",
        " line 11",
        " line 12",
        " line 13",
        " line 14",
        "-line 15",
        "+fifteen",
        " line 16",
        " line 17",
        " line 18",
        "@@ -26,5 +26,5 @@",
        " line 26",
        " line 27",
        " line 28",
        "-line 29",
        "+twenty-nine",
        " line 30",
        ""
      ].join("\n")
    )
  })

  it("marks a missing last newline", () => {
    expect(diffOf("a\n", "a")).toBe("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n")
  })

  it("creates from and deletes to /dev/null", () => {
    const after = TextFile.of("new\n")
    expect(unifiedDiff({ oldPath: undefined, newPath: "f", before: undefined, after })).toBe(
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n"
    )
    expect(unifiedDiff({ oldPath: "f", newPath: undefined, before: after, after: undefined })).toBe(
      "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n"
    )
  })

  it("is empty for texts that are the same, and names a move", () => {
    const same = TextFile.of("a\n")
    expect(diffOf("a\n", "a\n")).toBe("")
    expect(unifiedDiff({ oldPath: "f", newPath: "g", before: same, after: same })).toBe("rename from f\nrename to g\n")
  })

  it("shows texts that have too little in common as replaced", () => {
    const lines = (word: string) => Array.from({ length: 1500 }, (_, index) => `${word} ${index}\n`).join("")
    const diff = diffOf(lines("old"), lines("new"))
    expect(diff.startsWith("--- a/f\n+++ b/f\n@@ -1,1500 +1,1500 @@\n-old 0\n")).toBe(true)
  })
})
