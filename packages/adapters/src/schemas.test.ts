import { describe, expect, it } from "@effect/vitest"
import { inputJsonSchema } from "@haft/core"
import * as z from "zod"

import { lintTool } from "./lint-schema.ts"
import { fromStrict, strictSchema } from "./strict-schema.ts"

const schema = inputJsonSchema(
  z.strictObject({
    path: z.string().min(1).describe("Where"),
    limit: z.number().int().min(1).default(10),
    mode: z.enum(["a", "b"]).optional(),
    maybe: z.string().nullable().optional(),
    edits: z.array(z.strictObject({ find: z.string(), count: z.number().optional() })).optional()
  })
)

describe("strict schemas", () => {
  it("require every property, and say null for one that may be left out", () => {
    const strict = strictSchema(schema)
    expect(strict).toMatchObject({
      required: ["path", "limit", "mode", "maybe", "edits"],
      additionalProperties: false,
      properties: {
        path: { type: "string", description: "Where" },
        limit: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
        maybe: { type: ["string", "null"] }
      }
    })
    expect(lintTool({ name: "x", parameters: strict ?? {} }, "openai-strict")).toEqual([])
  })

  it("turn back into what the tool takes: nulls go, unless the tool knows null", () => {
    const args = { path: "a", limit: null, mode: null, maybe: null, edits: [{ find: "x", count: null }] }
    expect(fromStrict(args, schema)).toEqual({ path: "a", maybe: null, edits: [{ find: "x" }] })
    expect(fromStrict("text", schema)).toBe("text")
  })

  it("do not exist for objects with free keys", () => {
    expect(strictSchema(inputJsonSchema(z.strictObject({ env: z.record(z.string(), z.string()) })))).toBe(undefined)
    expect(strictSchema({ type: "object", not: {} })).toBe(undefined)
  })
})

describe("the lint", () => {
  it("finds nothing wrong with a plain schema, and says what strict readers would", () => {
    for (const reader of ["openai", "anthropic", "gemini"] as const) {
      expect(lintTool({ name: "read_file", parameters: schema }, reader)).toEqual([])
    }
    expect(lintTool({ name: "read_file", parameters: schema }, "openai-strict")).toEqual([
      { path: "", problem: "limit is not required" },
      { path: "", problem: "mode is not required" },
      { path: "", problem: "maybe is not required" },
      { path: "", problem: "edits is not required" },
      { path: "/properties/path", problem: "the keyword minLength" },
      { path: "/properties/limit", problem: "the keyword default" },
      { path: "/properties/edits/items", problem: "count is not required" }
    ])
  })

  it.each([
    ["openai", { name: "file.read", parameters: { type: "object" } }, "the name file.read does not match"],
    ["gemini", { name: "1st", parameters: { type: "object" } }, "the name 1st does not match"],
    ["openai", { name: "x", parameters: { type: "object", anyOf: [] } }, "anyOf at the root"],
    ["anthropic", { name: "x", parameters: { type: "string" } }, "not an object"],
    ["anthropic", { name: "x", parameters: { type: "object", properties: { "a b": {} } } }, "the property a b"],
    ["gemini", { name: "x", parameters: { type: "object", properties: { n: { enum: [1] } } } }, "other than texts"],
    ["openai-strict", { name: "x", parameters: { type: "object", properties: { o: { oneOf: [] } } } }, "oneOf"],
    [
      "openai-strict",
      { name: "x", parameters: { type: "object", properties: { e: { enum: Array.from({ length: 1001 }, String) } } } },
      "enumValues: 1001, at most 1000"
    ]
  ] as const)("tells that %s refuses %o", (reader, tool, problem) => {
    expect(lintTool(tool, reader).map((found) => found.problem)).toContainEqual(expect.stringContaining(problem))
  })
})
