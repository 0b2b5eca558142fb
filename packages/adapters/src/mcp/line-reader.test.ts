import { describe, expect, it } from "@effect/vitest"

import { lineReader } from "./line-reader.ts"

const reading = (longestLine: number) => {
  const lines: Array<string> = []
  let tooLong = 0
  const read = lineReader({ longestLine, onLine: (line) => lines.push(line), onTooLong: () => tooLong++ })
  return { read: (...pieces: ReadonlyArray<Buffer>) => pieces.forEach(read), lines, tooLong: () => tooLong }
}

describe("a reader of lines", () => {
  it("hands on the same lines however they are cut, also within a character", () => {
    const text = Buffer.from('{"a":"ä€😀"}\r\n\n{"b":2}\nnot ended')
    for (let at = 0; at <= text.length; at++) {
      for (let next = at; next <= text.length; next++) {
        const { read, lines } = reading(100)
        read(text.subarray(0, at), text.subarray(at, next), text.subarray(next))
        expect(lines).toEqual(['{"a":"ä€😀"}\r', "", '{"b":2}'])
      }
    }
  })

  it("gives up on a line that does not end, and on none that came whole", () => {
    const { read, lines, tooLong } = reading(8)
    read(Buffer.from("1234"), Buffer.from("5678\n"), Buffer.from("1234"), Buffer.from("56789"))
    expect(lines).toEqual(["12345678"])
    expect(tooLong()).toBe(1)
    read(Buffer.from("1234\n"))
    expect(lines).toEqual(["12345678", "1234"])
  })
})
