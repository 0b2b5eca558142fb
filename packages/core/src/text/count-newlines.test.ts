import { expect, it } from "@effect/vitest"

import { countNewlines } from "./count-newlines.ts"

it("counts as one by one would, whatever the bytes and wherever they begin", () => {
  // All pairs of neighbors, and the values next to a newline's more often than the others.
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => {
    const value = (index * 7919 + (index >> 8)) & 255
    return value < 64 ? [9, 10, 11, 138][value & 3]! : value
  })
  for (const [from, to] of [0, 1, 2, 3, 4, 5].flatMap((at) =>
    [0, 1, 2, 3, 508, 1023, 1024, 1039, 4081, 70_000].map((size) => [at, at + size])
  )) {
    const piece = bytes.subarray(from, to)
    expect(countNewlines(piece)).toBe(piece.filter((byte) => byte === 10).length)
  }
  // Longer than one piece, full, and shorter than the piece before.
  for (const length of [100_001, 600_013, 5000]) expect(countNewlines(new Uint8Array(length).fill(10))).toBe(length)
})
