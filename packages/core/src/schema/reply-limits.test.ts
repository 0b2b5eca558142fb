import { expect, it } from "@effect/vitest"

import { plainData } from "./reply-limits.ts"

it("copies data as it is, whatever its keys are called", () => {
  const data = JSON.parse('{"a":[1,null,{"b":"c"}],"__proto__":{"d":true},"":1.5}') as object
  const { data: copy } = plainData(data)
  expect(copy).toEqual(data)
  expect(copy).not.toBe(data)
  expect(Object.keys(copy as object)).toEqual(["a", "__proto__", ""])
  expect(plainData({ a: undefined })).toEqual({ data: { a: undefined } })
})

it("is the same for whoever looks at it later", () => {
  let looks = 0
  const { data } = plainData({
    get path() {
      return looks++ === 0 ? "shown.txt" : "meant.txt"
    }
  })
  expect([data, data]).toEqual([{ path: "shown.txt" }, { path: "shown.txt" }])
})

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic
const throwing = {
  get path(): string {
    throw new Error("no")
  }
}
const trap = (): never => {
  throw new Error("no")
}

it.each([
  ["a cycle", cyclic, "they have values more than 64 levels deep"],
  ["a property that throws", throwing, "they can't be read"],
  ["a proxy that throws", new Proxy({}, { ownKeys: trap, getPrototypeOf: trap }), "they can't be read"],
  ["a function", { a: () => 1 }, "they have a function in them"],
  ["half a character", { a: "\udc69" }, "a string in them has a lone surrogate"],
  ["a bigint", { a: 1n }, "they have a bigint in them"],
  ["a symbol", [Symbol("a")], "they have a symbol in them"],
  ["a date", { a: new Date(0) }, "they have an object of a class in them"],
  ["a map", new Map(), "they have an object of a class in them"],
  ["a list that says it is endless", { a: Array(2 ** 32 - 1) }, "they have more than 1000000 values"]
])("says why %s is no data", (_, value, problem) => {
  expect(plainData(value)).toEqual({ data: "[no plain data]", problem })
})
