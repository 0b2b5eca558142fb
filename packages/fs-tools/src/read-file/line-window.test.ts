import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"

import { LineWindow } from "./line-window.ts"

const read = (text: string, range: Partial<ConstructorParameters<typeof LineWindow>[0]>, chunk = 7) => {
  const bytes = Buffer.from(text)
  const window = new LineWindow({ start: 1, maxBytes: 1e6, ...range })
  // One buffer for all chunks, as a real reader has.
  const buffer = Buffer.alloc(chunk)
  for (let at = 0; at < bytes.length; at += chunk) {
    const length = bytes.copy(buffer, 0, at)
    window.push(buffer.subarray(0, length))
  }
  const { head, tail, ...facts } = window.finish()
  return { head: Buffer.from(head).toString(), tail: Buffer.from(tail).toString(), ...facts }
}

/** The plain way: all lines as strings. */
const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

describe("a window of lines", () => {
  it("gives what splitting the whole text gives, however the chunks fall", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é", "🙂") }),
        fc.integer({ min: 1, max: 12 }),
        fc.option(fc.integer({ min: 1, max: 12 })),
        fc.integer({ min: 1, max: 9 }),
        (text, start, length, chunk) => {
          const lines = linesOf(text)
          const end = length === null ? undefined : start + length - 1
          const selected = lines.slice(start - 1, end)
          expect(read(text, { start, ...(end !== undefined && { end }) }, chunk)).toEqual({
            head: selected.join(""),
            tail: "",
            totalLines: lines.length,
            selectedLines: selected.length,
            keptLines: selected.length,
            cutByBytes: false,
            isUtf8: true,
            hasNul: false
          })
        }
      ),
      { seed: 1 }
    )
  })

  it("finds every line of a text of many blocks", () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `${"x".repeat((at * 7) % 41)}${at}\n`)
    const text = lines.join("")
    for (let start = 1; start <= lines.length; start += 13) {
      const { head, totalLines } = read(text, { start, end: start + 2 }, 65_536)
      expect({ head, totalLines }).toEqual({ head: lines.slice(start - 1, start + 2).join(""), totalLines: 5000 })
    }
  })

  it("keeps the first and the last half of too many lines", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "é") })),
        fc.integer({ min: 1, max: 8 }).map((half) => half * 2),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        (words, maxLines, start, endsWithNewline) => {
          const text = words.join("\n") + (endsWithNewline ? "\n" : "x")
          const selected = linesOf(text).slice(start - 1)
          const { head, tail, keptLines } = read(text, { start, maxLines })
          const isCut = selected.length > maxLines
          expect({ head, tail, keptLines }).toEqual({
            head: (isCut ? selected.slice(0, maxLines / 2) : selected).join(""),
            tail: isCut ? selected.slice(-maxLines / 2).join("") : "",
            keptLines: Math.min(selected.length, maxLines)
          })
        }
      ),
      { seed: 1 }
    )
  })

  it("stops at the last whole line that the byte limit allows", () => {
    expect(read("one\ntwo\nthree\n", { maxBytes: 9 })).toMatchObject({
      head: "one\ntwo\n",
      keptLines: 2,
      totalLines: 3,
      cutByBytes: true
    })
    expect(read("one\ntwo\nthree\n", { maxBytes: 7 }, 1)).toMatchObject({
      head: "one\n",
      keptLines: 1,
      cutByBytes: true
    })
    expect(read("a very long line", { maxBytes: 6 })).toMatchObject({ head: "a very", keptLines: 1, cutByBytes: true })
  })

  it("does not cut a character in two where a line is longer than the byte limit", () => {
    const cut = (maxBytes: number) => read("aé🙂b", { maxBytes }, 2).head
    expect([1, 2, 3, 4, 5, 6, 7].map(cut)).toEqual(["a", "a", "aé", "aé", "aé", "aé", "aé🙂"])
  })

  it("gives up the tail when its few lines are too long", () => {
    const text = `${"x\n".repeat(4)}${`${"y".repeat(50)}\n`.repeat(4)}`
    expect(read(text, { maxLines: 4, maxBytes: 60 })).toMatchObject({
      head: "x\n".repeat(4),
      tail: "",
      keptLines: 4,
      cutByBytes: true
    })
  })

  it("recognizes what is not UTF-8, also at the very end, and NUL", () => {
    const check = (...bytes: ReadonlyArray<number>) => {
      const window = new LineWindow({ start: 1, maxBytes: 100 })
      for (const byte of bytes) window.push(Uint8Array.of(byte))
      const { isUtf8, hasNul } = window.finish()
      return { isUtf8, hasNul }
    }
    expect(check(0xe2, 0x82, 0xac)).toEqual({ isUtf8: true, hasNul: false })
    expect(check(0xe2, 0x82)).toEqual({ isUtf8: false, hasNul: false })
    expect(check(0x61, 0xe9, 0x0a)).toEqual({ isUtf8: false, hasNul: false })
    expect(check(0x80)).toEqual({ isUtf8: false, hasNul: false })
    expect(check(0x61, 0x00)).toEqual({ isUtf8: true, hasNul: true })
  })
})
