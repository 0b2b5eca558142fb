import type { JsonSchema } from "@haft/core"

/**
 * The schema in the shape that strict function calling takes: every property required, none beyond them, a property
 * that may be left out is null instead. Undefined where that can't be said, as for objects with free keys.
 */
export const strictSchema = (schema: JsonSchema): JsonSchema | undefined => {
  try {
    return strict(schema)
  } catch (cause) {
    if (cause instanceof NotStrict) return undefined
    throw cause
  }
}

/** Turns arguments made for {@link strictSchema} back: a null that only meant "left out" is left out. */
export const fromStrict = (args: unknown, schema: JsonSchema): unknown => {
  if (Array.isArray(args)) return args.map((item) => fromStrict(item, subschema(schema, "items")))
  if (typeof args !== "object" || args === null) return args
  const properties = subschema(schema, "properties")
  return Object.fromEntries(
    Object.entries(args)
      .filter(
        ([key, value]) => value !== null || properties[key] === undefined || allowsNull(subschema(properties, key))
      )
      .map(([key, value]) => [key, fromStrict(value, subschema(properties, key))])
  )
}

class NotStrict extends Error {}

// Keywords that only narrow a value: the road checks them anyway.
const dropped = new Set([
  "default",
  "examples",
  "maxLength",
  "maxProperties",
  "minLength",
  "minProperties",
  "propertyNames",
  "title",
  "uniqueItems"
])
const impossible = ["allOf", "dependentRequired", "dependentSchemas", "else", "if", "not", "patternProperties", "then"]

const strict = (schema: JsonSchema): JsonSchema => {
  if (impossible.some((keyword) => keyword in schema)) throw new NotStrict()
  const kept = Object.entries(schema).filter(([keyword]) => !dropped.has(keyword))
  const result = Object.fromEntries(kept.map(([keyword, value]) => [keyword === "oneOf" ? "anyOf" : keyword, value]))
  for (const keyword of ["anyOf", "prefixItems"]) {
    if (Array.isArray(result[keyword])) result[keyword] = (result[keyword] as Array<JsonSchema>).map(strict)
  }
  if (isSchema(result["items"])) result["items"] = strict(result["items"])
  if (isSchema(result["$defs"])) result["$defs"] = mapValues(result["$defs"], strict)
  return result["type"] === "object" || "properties" in result ? strictObject(result) : result
}

const strictObject = (schema: JsonSchema): JsonSchema => {
  const { additionalProperties } = schema
  if (additionalProperties !== undefined && additionalProperties !== false) throw new NotStrict()
  const properties = subschema(schema, "properties")
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  const strictProperty = (property: JsonSchema, key: string): JsonSchema =>
    required.includes(key) || allowsNull(property) ? strict(property) : orNull(strict(property))
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, property]) => [key, strictProperty(property as JsonSchema, key)])
    ),
    required: Object.keys(properties),
    additionalProperties: false
  }
}

const orNull = (schema: JsonSchema): JsonSchema => {
  const { description, ...rest } = schema
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] }
}

const allowsNull = (schema: JsonSchema): boolean => {
  const { type, anyOf, oneOf } = schema
  if (type === "null" || (Array.isArray(type) && type.includes("null"))) return true
  return [anyOf, oneOf].some((list) => Array.isArray(list) && (list as ReadonlyArray<JsonSchema>).some(allowsNull))
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const subschema = (schema: JsonSchema, key: string): JsonSchema => {
  const value = schema[key]
  return isSchema(value) ? value : {}
}

const mapValues = (schemas: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, change(schema as JsonSchema)]))
