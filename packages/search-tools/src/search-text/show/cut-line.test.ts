import { describe, expect, it } from "@effect/vitest"

import { cutLine } from "./cut-line.ts"

/** Cuts as the reader does: only bytes near the focus are handed over. */
const cut = (line: string, match: string, reach = 8192): string => {
  const bytes = Buffer.from(line)
  const focus = Math.max(0, bytes.indexOf(match))
  const start = Math.max(0, focus - reach)
  return cutLine(bytes.subarray(start, focus + reach), { start, focus, length: bytes.length })
}

describe("a line in a result", () => {
  it.each([
    ["", ""],
    ["short", "short"],
    ["windows\r", "windows"],
    ["a".repeat(2000), "a".repeat(2000)],
    ["🙂".repeat(1000), "🙂".repeat(1000)]
  ])("is left alone when it is short enough", (line, shown) => {
    expect(cut(line, "")).toBe(shown)
  })

  it("is cut behind when the match is at the beginning", () => {
    expect(cut(`needle${"a".repeat(3000)}`, "needle")).toBe(`needle${"a".repeat(1994)}…`)
  })

  it("is cut before when the match is at the end", () => {
    expect(cut(`${"a".repeat(3000)}needle`, "needle")).toBe(`…${"a".repeat(1994)}needle`)
  })

  it("is cut on both sides when the match is in the middle", () => {
    const shown = cut(`${"a".repeat(1_000_000)}needle${"b".repeat(1_000_000)}`, "needle")
    expect(shown).toBe(`…${"a".repeat(500)}needle${"b".repeat(1494)}…`)
  })

  it("never breaks a character, whatever its length", () => {
    for (let shift = 0; shift < 4; shift++) {
      for (const character of ["é", "€", "🙂"]) {
        const shown = cut(`${"x".repeat(shift)}${character.repeat(9000)}needle${character.repeat(9000)}`, "needle")
        expect(shown).toMatch(/^….*needle.*…$/u)
        expect(shown.isWellFormed()).toBe(true)
        expect(shown).not.toContain("\uFFFD")
        expect(shown.length).toBeGreaterThan(1990)
        expect(shown.length).toBeLessThanOrEqual(2003)
      }
    }
  })

  it("shows bytes that are not UTF-8 as replacement characters", () => {
    expect(cutLine(Buffer.from([0x61, 0xff, 0x62]), { start: 0, focus: 0, length: 3 })).toBe("a\uFFFDb")
  })
})
