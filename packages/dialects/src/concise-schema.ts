import type { JsonSchema } from "@haft/core"

/** Keywords that narrow a value. The host checks them and its errors name the bound, so a model need not read them. */
const narrowing = new Set([
  "maxItems",
  "maxLength",
  "maximum",
  "minItems",
  "minLength",
  "minimum",
  "pattern",
  "propertyNames"
])

/** A schema without keywords that only narrow values: names, types, choices, defaults and descriptions stay. */
export const conciseSchema = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !narrowing.has(keyword) && !isEmptyDefault(keyword, value))
      .map(([keyword, value]) => [keyword, inside(keyword, value)])
  )

// A list or an object that may be absent is empty then; saying so helps nobody.
const isEmptyDefault = (keyword: string, value: unknown): boolean =>
  keyword === "default" && typeof value === "object" && value !== null && Object.keys(value).length === 0

const inside = (keyword: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || keyword === "default" || keyword === "enum") return value
  if (keyword === "properties" || keyword === "$defs") return mapValues(value as JsonSchema)
  return Array.isArray(value) ? value.map((item) => inside("items", item)) : conciseSchema(value as JsonSchema)
}

const mapValues = (schemas: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, inside("items", schema)]))
