import { describe, expect, it } from "@effect/vitest"

import { lineReader, type RefusedLine } from "./line-reader.ts"

const reading = (bytes: number) => {
  const lines: Array<string> = []
  const refused: Array<RefusedLine> = []
  const read = lineReader({
    limits: { bytes, values: 10, depth: 4 },
    onLine: (line) => lines.push(line),
    onRefused: (line) => refused.push(line)
  })
  return { read: (...pieces: ReadonlyArray<Buffer>) => pieces.forEach(read), lines, refused }
}

describe("lineReader", () => {
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

  it("skips a line that is too large, and reads the next one", () => {
    const { read, lines, refused } = reading(8)
    read(Buffer.from("1234"), Buffer.from("5678\n"), Buffer.from("1234"), Buffer.from("56789"), Buffer.from("0\n1\n"))
    expect(lines).toEqual(["12345678", "1"])
    expect(refused).toEqual([{ excess: { limit: "bytes", message: "larger than 8 bytes" }, outline: undefined }])
  })

  it("tells the fields of a refused message, however it is cut", () => {
    const text = Buffer.from(`{"id":"ä\\"]","params":{"id":7,"a":[[[[1]]]]},"n":"${"x".repeat(300)}\\\\","last":-1}\n`)
    for (let at = 0; at <= text.length; at++) {
      const { read, refused } = reading(1_000)
      read(text.subarray(0, at), text.subarray(at))
      expect(refused).toEqual([
        {
          excess: { limit: "depth", message: "nested more than 4 levels deep" },
          outline: { id: 'ä"]', params: {}, n: "", last: -1 }
        }
      ])
    }
  })

  it("counts values of lists, objects and empty containers", () => {
    for (const line of ["[1,2,3,4,5,6,7,8,9,10,11]", '{"a":1,"b":{},"c":[],"d":[[],[],[]],"e":[0,0]}']) {
      const { read, refused } = reading(1_000)
      read(Buffer.from(`${line}\n`))
      expect(refused).toMatchObject([{ excess: { limit: "values" } }])
    }
  })
})
