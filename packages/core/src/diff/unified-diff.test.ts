import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

import { type FileVersions, unifiedDiff as makeUnifiedDiff } from "./unified-diff.ts"

const unifiedDiff = (versions: FileVersions): string | undefined => Effect.runSync(makeUnifiedDiff(versions))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const diffOf = (before: string, after: string): string | undefined =>
  unifiedDiff({ oldPath: "f", newPath: "f", before: bytes(before), after: bytes(after) })

describe("unifiedDiff", () => {
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
    const after = bytes("new\n")
    expect(unifiedDiff({ oldPath: undefined, newPath: "f", before: undefined, after })).toBe(
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n"
    )
    expect(unifiedDiff({ oldPath: "f", newPath: undefined, before: after, after: undefined })).toBe(
      "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n"
    )
  })

  it("is empty for texts that are the same, and names a move", () => {
    const same = bytes("a\n")
    expect(diffOf("a\n", "a\n")).toBe("")
    expect(unifiedDiff({ oldPath: "f", newPath: "g", before: same, after: same })).toBe("rename from f\nrename to g\n")
  })

  it("shows texts that have too little in common as replaced", () => {
    const lines = (word: string) => Array.from({ length: 1500 }, (_, index) => `${word} ${index}\n`).join("")
    const diff = diffOf(lines("old"), lines("new"))
    expect(diff?.startsWith("--- a/f\n+++ b/f\n@@ -1,1500 +1,1500 @@\n-old 0\n")).toBe(true)
  })

  // U+0A0A and U+0A00 have the bytes of a newline at odd and even places.
  it.each(["utf-8", "utf-16le", "utf-16be"] as const)(
    "shows the same lines for %s, in whatever pieces the new text comes",
    (encoding) => {
      const encode = (text: string): Uint8Array => {
        if (encoding === "utf-8") return bytes(text)
        const units = Uint16Array.from(`\uFEFF${text}`, (character) => character.codePointAt(0) ?? 0)
        const view = new DataView(new ArrayBuffer(units.length * 2))
        for (const [at, unit] of units.entries()) view.setUint16(at * 2, unit, encoding === "utf-16le")
        return new Uint8Array(view.buffer)
      }
      const words = ["", "a", "\u0A0A", "\u0A00\u000D", "b\u0A0Ab", "→"]
      let seed = 1
      const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below
      const text = (): string => Array.from({ length: random(12) }, () => `${words[random(words.length)]}\n`).join("")
      for (let round = 0; round < 300; round++) {
        const [before, after] = [text(), text()]
        const whole = encode(after)
        const cut = random(whole.length + 1)
        const pieces = [whole.subarray(0, cut), whole.subarray(cut)]
        expect(unifiedDiff({ oldPath: "f", newPath: "f", before: encode(before), after: pieces })).toBe(
          diffOf(before, after)
        )
      }
    }
  )

  it("returns undefined when one of the two is binary", () => {
    expect(diffOf("a\n", "a\0")).toBeUndefined()
    expect(diffOf("a\0", "a\n")).toBeUndefined()
  })

  it("decodes Latin-1 and UTF-16 as they are spelled", () => {
    const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))
    expect(
      unifiedDiff({ oldPath: "f", newPath: "f", before: latin("Gr\u00fc\u00dfe\n"), after: latin("Gru\u00df\n") })
    ).toBe("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-Gr\u00fc\u00dfe\n+Gru\u00df\n")
    const utf16 = (text: string) =>
      Uint8Array.from([
        0xff,
        0xfe,
        ...text.split("").flatMap((character) => [character.charCodeAt(0) & 255, character.charCodeAt(0) >> 8])
      ])
    // U+0A0A has the byte of a line feed twice.
    expect(unifiedDiff({ oldPath: "f", newPath: "f", before: utf16("\u0a0a\nb\n"), after: utf16("\u0a0a\nc\n") })).toBe(
      "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n \u0a0a\n-b\n+c\n"
    )
  })

  it("takes content in pieces, and numbers lines from the start of the file", () => {
    const before = Array.from({ length: 20 }, (_, line) => `${line + 1}\n`)
    const after = before.toSpliced(11, 2, "new\n")
    const diff = "--- a/f\n+++ b/f\n@@ -9,8 +9,7 @@\n 9\n 10\n 11\n-12\n-13\n+new\n 14\n 15\n 16\n"
    expect(unifiedDiff({ oldPath: "f", newPath: "f", before: before.map(bytes), after: after.map(bytes) })).toBe(diff)
  })
})
