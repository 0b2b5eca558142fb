import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"

import { jsonPieces, stableJson, UnreadableValue } from "./stable-json.ts"

describe("stableJson", () => {
  it("is what JSON.stringify writes, for whatever JSON can hold", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stableJson(value)).toBe(JSON.stringify(value).replaceAll("\u{10FFFF}", String.raw`\udbff\udfff`))
      }),
      { numRuns: 1000, seed: 1 }
    )
  })

  it("keeps the order of keys and leaves out what is absent", () => {
    expect(stableJson({ b: 1, a: undefined, c: [true, null] })).toBe('{"b":1,"c":[true,null]}')
  })

  it("cuts at the quotes of strings, not at the quotes in them", () => {
    const pieces = jsonPieces({ say: '"hi"', n: 1 })
    const read = Array.from({ length: pieces.length }, (_, place) => pieces.at(place))
    expect(read).toEqual(["{", "say", ":", String.raw`\"hi\"`, ",", "n", ":1}"])
  })

  it("escapes lone surrogates and the reserved character", () => {
    expect(stableJson("\uD800")).toBe(String.raw`"\ud800"`)
    expect(stableJson("\u{10FFFF}")).toBe(String.raw`"\udbff\udfff"`)
  })

  it("counts an own __proto__ as a key like any", () => {
    expect(stableJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
  })

  it.each([
    [{ at: new Date(0) }, "a Date"],
    [{ n: Number.NaN }, "a number"],
    [{ n: 1n }, "a bigint"],
    [{ f: () => 1 }, "a function"],
    [[undefined], "a undefined"],
    [new Map(), "a Map"]
  ])("refuses %o", (value, problem) => {
    expect(() => stableJson(value)).toThrow(UnreadableValue)
    expect(() => stableJson(value)).toThrow(problem)
  })

  it("refuses what is nested too deeply, also in circles", () => {
    const circle: { inner?: unknown } = {}
    circle.inner = circle
    expect(() => stableJson(circle)).toThrow("nested too deeply")
  })
})
