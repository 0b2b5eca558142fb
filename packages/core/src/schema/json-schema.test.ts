import { expect, it } from "@effect/vitest"
import * as z from "zod"

import { inputJsonSchema, outputJsonSchema } from "../internal.ts"

it("shows defaults, bounds and descriptions, and forbids unknown keys", () => {
  const schema = z.strictObject({
    path: z.string().describe("A file"),
    limit: z.number().int().min(1).default(5),
    mode: z.enum(["a", "b"]).optional()
  })
  expect(inputJsonSchema(schema)).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "A file" },
      limit: { type: "integer", minimum: 1, default: 5 },
      mode: { type: "string", enum: ["a", "b"] }
    },
    required: ["path"],
    additionalProperties: false
  })
})

it("describes an answer without bounds nobody set", () => {
  expect(outputJsonSchema(z.object({ count: z.number().int() }))).toEqual({
    type: "object",
    properties: { count: { type: "integer" } },
    required: ["count"],
    additionalProperties: false
  })
})
