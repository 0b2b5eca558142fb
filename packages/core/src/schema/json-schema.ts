import * as z from "zod"

export type JsonSchema = { readonly [key: string]: unknown }

/** The JSON Schema of what a caller may send: defaults shown, unknown keys forbidden. */
export const inputJsonSchema = (schema: z.ZodType): JsonSchema => convert(schema, "input")

/** The JSON Schema of what a tool answers. */
export const outputJsonSchema = (schema: z.ZodType): JsonSchema => convert(schema, "output")

const convert = (schema: z.ZodType, io: "input" | "output"): JsonSchema => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, override: withoutSafeIntegerBounds })
  return rest
}

// zod adds the bounds of a safe integer to every `.int()`; they only make a schema longer to read.
const withoutSafeIntegerBounds = ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"]
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"]
}
