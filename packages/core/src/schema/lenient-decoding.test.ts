import { describe, expect, it } from "@effect/vitest"
import * as z from "zod"

import { decodeLeniently } from "./lenient-decoding.ts"

const schema = z.strictObject({
  path: z.string(),
  line: z.number().int().min(1).optional(),
  depth: z.number().default(3),
  all: z.boolean().default(false),
  note: z.string().nullable().optional(),
  names: z.array(z.string()).optional(),
  place: z.strictObject({ line: z.number() }).optional(),
  edits: z.array(z.strictObject({ find: z.string(), count: z.number().optional() })).optional()
})

const decode = (args: unknown) => {
  const strict = schema.safeParse(args)
  if (strict.success) throw new Error("it fits")
  return decodeLeniently(schema, args, strict.error)
}

describe("lenient decoding", () => {
  it.each([
    ["null for an absent parameter", { path: "a", line: null }, { path: "a", depth: 3, all: false }],
    ["null for a default", { path: "a", depth: null }, { path: "a", depth: 3, all: false }],
    ["a number as a string", { path: "a", line: "7", depth: "-1.5" }, { path: "a", line: 7, depth: -1.5, all: false }],
    ["a boolean as a string", { path: "a", all: "true" }, { path: "a", depth: 3, all: true }],
    [
      "one object for a list",
      { path: "a", edits: { find: "x" } },
      { path: "a", depth: 3, all: false, edits: [{ find: "x" }] }
    ],
    [
      "a list as a string of JSON",
      { path: "a", edits: '[{"find":"x"}]', names: ' ["b"]' },
      { path: "a", depth: 3, all: false, edits: [{ find: "x" }], names: ["b"] }
    ],
    [
      "an object as a string of JSON",
      { path: "a", place: '{"line":1}' },
      { path: "a", depth: 3, all: false, place: { line: 1 } }
    ],
    [
      "a value inside a list",
      { path: "a", edits: [{ find: "x", count: "2" }] },
      { path: "a", depth: 3, all: false, edits: [{ find: "x", count: 2 }] }
    ]
  ])("takes %s, and says so", (_, args, data) => {
    const given = structuredClone(args)
    const decoded = decode(args)
    expect(decoded?.data).toEqual(data)
    expect(decoded?.adjusted.length).toBeGreaterThan(0)
    expect(args).toEqual(given)
  })

  it.each([
    ["null for what is required", { path: null }],
    ["a number that JSON writes otherwise", { path: "a", line: "07" }],
    ["a number with a space", { path: "a", line: " 7" }],
    ["a word for a boolean", { path: "a", all: "yes" }],
    ["a number for a string", { path: 7 }],
    ["a number for a boolean", { path: "a", all: 1 }],
    ["one string for a list", { path: "a", names: "x" }],
    ["a string that is not JSON for a list", { path: "a", names: "[x" }],
    ["an object as a string for a list", { path: "a", edits: '{"find":"x"}' }],
    ["a list as a string for an object", { path: "a", place: "[1]" }],
    ["a list as a string with wrong entries", { path: "a", names: "[1]" }],
    ["a number beyond the schema's limits", { path: "a", line: "0" }],
    ["a fraction for a whole number", { path: "a", line: "1.5" }],
    ["an unknown parameter beside", { path: "a", line: "7", lines: 2 }],
    ["a missing parameter beside", { line: "7" }],
    ["null in a list", { path: "a", names: [null] }],
    ["no object", "path"]
  ])("does not guess: %s", (_, args) => {
    expect(decode(args)).toBe(undefined)
  })
})
