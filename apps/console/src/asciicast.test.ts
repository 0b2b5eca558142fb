import { expect, it } from "vitest"

import { CastReader } from "./asciicast.ts"

const cast = '{"version":2,"width":80,"height":24}\n[0.1,"o","häft\\r\\n"]\n[0.2,"r","100x30"]\n[0.3,"x","?"]\nbroken\n'
const expected = [
  { type: "size", cols: 80, rows: 24 },
  { type: "output", text: "häft\r\n" },
  { type: "size", cols: 100, rows: 30 }
]

it("a recording is read as a whole, and what is unknown in it is left out", () => {
  expect(new CastReader().read(new TextEncoder().encode(cast))).toEqual(expected)
})

it("a recording is read byte by byte as it grows, with the same result", () => {
  const reader = new CastReader()
  const bytes = new TextEncoder().encode(cast)
  expect([...bytes].flatMap((_, index) => reader.read(bytes.subarray(index, index + 1)))).toEqual(expected)
})
