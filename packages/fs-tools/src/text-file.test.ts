import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { type Encoding, TextFile } from "./text-file.ts"

const encodeAs = (text: string, encoding: Encoding): Buffer => {
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  if (encoding === "latin-1") return Buffer.from(text, "latin1")
  const little = Buffer.from(text, "utf16le")
  return encoding === "utf-16le" ? little : little.swap16()
}

const marks: Record<Encoding, Buffer> = {
  "utf-8": Buffer.of(),
  "latin-1": Buffer.of(),
  "utf-16le": Buffer.of(0xff, 0xfe),
  "utf-16be": Buffer.of(0xfe, 0xff)
}

const piece = (encoding: Encoding): fc.Arbitrary<string> =>
  fc
    .array(
      fc.constantFrom(
        "a",
        "b",
        " ",
        "\t",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "é",
        "ÿ",
        ...(encoding === "latin-1" ? [] : ["→", "😀", "\uFEFF"])
      ),
      { maxLength: 12 }
    )
    .map((characters) => characters.join(""))

/** A file in pieces, every second of which is replaced. */
const replaced = fc.constantFrom<Encoding>("utf-8", "latin-1", "utf-16le", "utf-16be").chain((encoding) =>
  fc.record({
    encoding: fc.constant(encoding),
    parts: fc.array(fc.record({ kept: piece(encoding), old: piece(encoding), now: piece(encoding) }), { maxLength: 6 })
  })
)

const bytesOf = (file: TextFile | undefined): Buffer => Buffer.concat(file?.encode() ?? [])

describe("TextFile", () => {
  it("gives back the bytes it was made from", () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 1, maxLength: 200 }), (bytes) => {
        const file = TextFile.decode(bytes)
        expect(bytesOf(file)).toEqual(Buffer.from(bytes))
      }),
      { numRuns: 1000, seed: 1 }
    )
  })

  it("changes the stretches it is told to, and no other byte, in every encoding", () => {
    fc.assert(
      fc.property(replaced, ({ encoding, parts }) => {
        // A lone é makes the bytes invalid as UTF-8, so that they are read as Latin-1.
        const lead = encoding === "latin-1" ? "é," : ""
        const before = lead + parts.map(({ kept, old }) => kept + old).join("")
        const after = lead + parts.map(({ kept, now }) => kept + now).join("")
        const file = TextFile.decode(Buffer.concat([marks[encoding], encodeAs(before, encoding)]))
        expect(file?.encoding).toBe(encoding)
        let at = lead.length
        const replacements = parts.map(({ kept, old, now }) => {
          const start = at + kept.length
          at = start + old.length
          return { start, end: at, text: now }
        })
        const result = file?.replace(replacements)
        expect(result?.text).toBe(after)
        expect(bytesOf(result)).toEqual(Buffer.concat([marks[encoding], encodeAs(after, encoding)]))
      }),
      { numRuns: 500, seed: 1 }
    )
  })

  it("can be changed again after a change", () => {
    const file = TextFile.decode(Buffer.from("one → two → three"))
    const once = file?.replace([{ start: 0, end: 3, text: "eins" }])
    const twice = once?.replace([{ start: 2, end: 6, text: "" }])
    expect(bytesOf(twice).toString()).toBe("ei two → three")
  })

  it("counts a line for each newline and one for a last line without", () => {
    const linesOf = (text: string) => TextFile.of(text).lineCount
    expect([linesOf(""), linesOf("a"), linesOf("a\n"), linesOf("a\nb\n"), linesOf("\n\n")]).toEqual([0, 1, 1, 2, 2])
  })

  it("knows how each line ends", () => {
    const file = TextFile.of("a\nb\r\n\r\nd")
    expect([0, 1, 2, 3].map((line) => file.terminator(line))).toEqual(["\n", "\r\n", "\r\n", ""])
    expect([0, 1, 2, 3].map((line) => file.line(line))).toEqual(["a", "b\r", "\r", "d"])
  })

  it("finds the line of an offset", () => {
    const file = TextFile.of("ab\ncd\n")
    expect([0, 2, 3, 5, 6].map((offset) => file.lineAt(offset))).toEqual([0, 0, 1, 1, 1])
  })

  it("takes bytes with a NUL for binary, unless they are UTF-16 with a byte order mark, and UTF-32 too", () => {
    expect(TextFile.decode(Buffer.from("a\0b"))).toBeUndefined()
    expect(TextFile.decode(Buffer.from(`${"a".repeat(100_000)}\0`))).toBeUndefined()
    expect(TextFile.decode(Buffer.from("\uFEFFa\0b", "utf16le"))).toBeUndefined()
    expect(TextFile.decode(Buffer.from("\uFEFFab", "utf16le"))?.text).toBe("ab")
    expect(TextFile.decode(Buffer.from("\uFEFF\0a\0", "utf16le"))).toBeUndefined()
  })

  it("keeps a last odd byte of UTF-16", () => {
    const bytes = Buffer.of(0xff, 0xfe, 0x61, 0x00, 0x62)
    expect(bytesOf(TextFile.decode(bytes)?.replace([{ start: 0, end: 0, text: "x" }]))).toEqual(
      Buffer.of(0xff, 0xfe, 0x78, 0x00, 0x61, 0x00, 0x62)
    )
  })

  it("says which character an encoding has no bytes for", () => {
    const latin = TextFile.decode(Buffer.from("caf\xe9", "latin1"))
    expect([latin?.firstUnencodable("é"), latin?.firstUnencodable("a→b"), latin?.firstUnencodable("x😀")]).toEqual([
      undefined,
      "→",
      "😀"
    ])
    expect(TextFile.of("").firstUnencodable("half \ud800 pair")).toBe("\ud800")
  })
})
