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
    "lines: Invalid input: expected number, received string, or Invalid input: expected array, received string"
  ])
})

it("says what is wrong inside the shape that was meant", () => {
  expect(wordsFor({ lines: [1, "2"] })).toEqual(["lines.1: Invalid input: expected number, received string"])
  expect(wordsFor({ lines: 1, when: { day: "x" } })).toEqual([
    "when.day: Invalid input: expected number, received string, or Invalid input: expected boolean, received string"
  ])
})

it("leaves the words that the schema's author chose", () => {
  expect(wordsFor({ lines: 1, named: true })).toEqual(["named: a name or a number"])
})
