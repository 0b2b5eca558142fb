import { expect, it } from "@effect/vitest"

import { legalNames } from "./names.ts"

it("makes names legal, keeps them apart, and finds the way back", () => {
  const names = ["file.read", "file_read", "a/b", "a.b", "run", "", "2nd", "-x", "x".repeat(70), `${"x".repeat(69)}y`]
  const { legal, original } = legalNames(names)
  expect(names.map(legal)).toEqual([
    "file_read_2",
    "file_read",
    "a_b",
    "a_b_2",
    "run",
    "tool",
    "_2nd",
    "_-x",
    "x".repeat(64),
    `${"x".repeat(62)}_2`
  ])
  expect(names.map((name) => original(legal(name)))).toEqual(names)
  expect([legal("unknown"), original("unknown")]).toEqual(["unknown", "unknown"])
})
