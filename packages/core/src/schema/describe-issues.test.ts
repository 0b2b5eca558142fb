import { expect, it } from "@effect/vitest"
import * as z from "zod"

import { plainIssues } from "./describe-issues.ts"

const shape = z.strictObject({
  lines: z.union([z.number(), z.array(z.number())]),
  when: z.union([z.string(), z.strictObject({ day: z.union([z.number(), z.boolean()]) })]).optional(),
  named: z.union([z.string(), z.number()], "a name or a number").optional()
})

const wordsFor = (value: unknown) => {
  const { error } = shape.safeParse(value)
  return error === undefined ? [] : plainIssues(error).map(({ path, message }) => `${path.join(".")}: ${message}`)
}

it("says what each shape expects, where the value has none of them", () => {
  expect(wordsFor({ lines: "1" })).toEqual([
    "lines: expected a number, got a string, or expected an array, got a string"
  ])
})

it("says what is wrong inside the shape that was meant", () => {
  expect(wordsFor({ lines: [1, "2"] })).toEqual(["lines.1: expected a number, got a string"])
  expect(wordsFor({ lines: 1, when: { day: "x" } })).toEqual([
    "when.day: expected a number, got a string, or expected a boolean, got a string"
  ])
})

it("leaves the words that the schema's author chose", () => {
  expect(wordsFor({ lines: 1, named: true })).toEqual(["named: a name or a number"])
})
