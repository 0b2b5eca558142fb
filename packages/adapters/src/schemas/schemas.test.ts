import { describe, expect, it } from "@effect/vitest"
import { type JsonSchema } from "@haft/core"
import { inputJsonSchema } from "@haft/core/internal"
import * as z from "zod"

import { lintTool, schemaReaders } from "./lint-schema.ts"
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

  it("turn back in each of several forms, and where one refers to another", () => {
    const move = z.strictObject({ kind: z.literal("move"), to: z.string(), force: z.boolean().optional() })
    const note = z.strictObject({ kind: z.literal("note"), to: z.string().nullable(), force: z.null() })
    const steps = inputJsonSchema(z.strictObject({ steps: z.array(z.union([z.string(), move, note])) }))
    const meant = [
      { kind: "move", to: "b", force: null },
      { kind: "note", to: null, force: null }
    ]
    expect(fromStrict({ steps: meant }, steps)).toEqual({ steps: [{ kind: "move", to: "b" }, meant[1]] })
    const tree = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/tree" } },
      $defs: {
        tree: { type: "object", properties: { name: { type: "string" }, child: { $ref: "#/$defs/tree" } } }
      }
    }
    expect(fromStrict({ tree: { name: "a", child: { name: null, child: null } } }, tree)).toEqual({
      tree: { name: "a", child: {} }
    })
  })

  it("have a list of names and values for an object with free keys", () => {
    const numbers = z.record(z.string(), z.array(z.number()))
    const free = inputJsonSchema(z.strictObject({ env: z.record(z.string(), z.string()).default({}), also: numbers }))
    const strict = strictSchema(free)
    expect(lintTool({ name: "x", parameters: strict ?? {} }, "openai-strict")).toEqual([])
    const env = [
      { name: "A", value: "1" },
      { name: "__proto__", value: "2" }
    ]
    expect(fromStrict({ env, also: [{ name: "n", value: [3] }] }, free)).toEqual({
      env: Object.fromEntries([
        ["A", "1"],
        ["__proto__", "2"]
      ]),
      also: { n: [3] }
    })
    expect(fromStrict({ env: null, also: [] }, free)).toEqual({ also: {} })
  })

  it("leave out what strict readers refuse and the road checks anyway", () => {
    const strict = strictSchema(inputJsonSchema(z.strictObject({ url: z.url(), id: z.uuid(), few: z.string().max(9) })))
    expect(strict).toMatchObject({ properties: { id: { format: "uuid" } } })
    expect(lintTool({ name: "x", parameters: strict ?? {} }, "openai-strict")).toEqual([])
  })

  it.each([
    ["free keys with any value", { env: { type: "object", additionalProperties: true } }],
    ["any keys", { env: { type: "object" } }],
    ["anything", { value: { description: "anything" } }],
    ["true", { value: true }],
    ["a list of anything", { list: { type: "array" } }],
    ["a list with places", { pair: { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } } }],
    ["what must not be", { value: { type: "string", not: {} } }]
  ])("do not exist for %s", (_, properties) => {
    expect(strictSchema({ type: "object", properties, additionalProperties: false })).toBe(undefined)
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

  const none = { type: "object", properties: {} }
  it.each([
    ["openai", "file.read", none, "the name file.read does not match"],
    ["gemini", "1st", none, "the name 1st does not match"],
    ["openai", "x", { ...none, anyOf: [none] }, "anyOf at the root"],
    ["openai", "x", { type: "object" }, "an object that does not say its properties"],
    ["anthropic", "x", { type: "string" }, "not an object"]
  ] as const)("tells that %s refuses %s with %o", (reader, name, parameters, problem) => {
    expect(lintTool({ name, parameters }, reader)).toEqual([
      { path: "", problem: expect.stringContaining(problem) as string }
    ])
  })

  it.each([
    ["anthropic", { "a b": {} }, "the property a b"],
    ["gemini", { n: { enum: [1] } }, "an enum of other than texts"],
    ["gemini", { a: { type: "object", properties: {}, required: ["b"] } }, "b is required and not among"],
    ["gemini", { n: { not: {} } }, "the keyword not"],
    ["openai", { list: { type: "array" } }, "an array without items"],
    ["openai", { list: { type: ["array", "null"] } }, "an array without items"],
    ["openai-strict", { a: {} }, "no type"],
    ["openai-strict", { o: { oneOf: [{ type: "string" }] } }, "the keyword oneOf"],
    ["openai-strict", { url: { type: "string", format: "uri" } }, "the format uri"],
    ["openai-strict", { list: { type: "array", items: { type: "string" }, contains: {} } }, "the keyword contains"],
    ["openai-strict", { open: { type: "object", properties: {} } }, "additionalProperties is not false"],
    ["openai-strict", { e: { type: "string", enum: manyTexts(1001, 1) } }, "enumValues: 1001, at most 1000"],
    ["openai-strict", { e: { type: "string", enum: manyTexts(251, 80) } }, "an enum of more than 250"],
    ["openai-strict", deep(12), "depth: 12, at most 10"]
  ] as const)("tells that %s refuses a property like %o", (reader, properties, problem) => {
    const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false }
    expect(lintTool({ name: "x", parameters }, reader).map((found) => found.problem)).toContainEqual(
      expect.stringContaining(problem)
    )
  })

  it.each([
    [{ type: "strnig" }, "type is not"],
    [{ type: [] }, "type is not"],
    [{ properties: [] }, "properties is not"],
    [{ properties: { a: null } }, "properties is not"],
    [{ required: "a" }, "required is not"],
    [{ required: ["a", "a"] }, "required is not"],
    [{ anyOf: {} }, "anyOf is not"],
    [{ anyOf: [] }, "anyOf is not"],
    [{ items: [{}] }, "items is not"],
    [{ enum: [] }, "enum is not"],
    [{ exclusiveMinimum: true }, "exclusiveMinimum is not"],
    [{ maxLength: -1 }, "maxLength is not"],
    [{ pattern: "(" }, "pattern is not"],
    [{ description: 5 }, "description is not"]
  ])("tells every reader that %o is no schema", (a, problem) => {
    for (const reader of schemaReaders) {
      const found = lintTool({ name: "x", parameters: { type: "object", properties: { a } } }, reader)
      expect(found).toContainEqual({ path: "/properties/a", problem: expect.stringContaining(problem) as string })
    }
  })
})

function manyTexts(count: number, length: number): ReadonlyArray<string> {
  return Array.from({ length: count }, (_, at) => String(at).padStart(length, "0"))
}

function deep(levels: number): Readonly<Record<string, JsonSchema>> {
  const properties = levels === 1 ? {} : deep(levels - 1)
  const required = Object.keys(properties)
  return { below: { type: "object", properties, required, additionalProperties: false } }
}
