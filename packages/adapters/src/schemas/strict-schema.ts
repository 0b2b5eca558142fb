import type { JsonSchema } from "@haft/core"

import { isObject } from "./malformed-schema.ts"

/**
 * The schema as strict function calling wants it: all properties are required, no others are allowed, and an optional
 * property may be null instead. An object with arbitrary keys becomes a list of names and values. Undefined where that is
 * not possible, as for values of any type.
 */
export const strictSchema = (schema: JsonSchema): JsonSchema | undefined => {
  try {
    return strict(schema)
  } catch (cause) {
    if (cause instanceof NotStrict) return undefined
    throw cause
  }
}

/**
 * Arguments made for {@link strictSchema}, as the schema itself wants them: a null for an optional property is removed, and a
 * list of names and values becomes an object.
 */
export const fromStrict = (args: unknown, schema: JsonSchema, root: JsonSchema = schema): unknown => {
  const branches = branchesOf(schema, root)
  if (Array.isArray(args)) {
    const map = branches.some(({ type }) => type === "array") ? undefined : branches.find(isMap)
    if (map !== undefined && args.every(isPair)) {
      const values = subschema(map, "additionalProperties")
      return Object.fromEntries(args.map(({ name, value }) => [name, fromStrict(value, values, root)]))
    }
    const items = branches.map((branch) => subschema(branch, "items")).find(isFilled) ?? {}
    return args.map((item) => fromStrict(item, items, root))
  }
  if (!isObject(args)) return args
  const meant = branches.find((branch) => fits(args, branch)) ?? {}
  const properties = subschema(meant, "properties")
  return Object.fromEntries(
    Object.entries(args)
      .filter(([key, value]) => value !== null || !(key in properties) || allowsNull(subschema(properties, key), root))
      .map(([key, value]) => [key, fromStrict(value, subschema(properties, key), root)])
  )
}

/** The schemas that a schema stands for, with `$ref`, `anyOf` and `oneOf` resolved. */
const branchesOf = (schema: JsonSchema, root: JsonSchema, depth = 0): ReadonlyArray<JsonSchema> => {
  const { $ref: reference, anyOf, oneOf } = schema
  if (depth > 20) return []
  if (typeof reference === "string") return branchesOf(referredTo(reference, root), root, depth + 1)
  const several = [anyOf, oneOf].find((list) => Array.isArray(list)) as ReadonlyArray<JsonSchema> | undefined
  return several === undefined ? [schema] : several.flatMap((branch) => branchesOf(branch, root, depth + 1))
}

const referredTo = (reference: string, root: JsonSchema): JsonSchema =>
  reference === "#" ? root : subschema(subschema(root, "$defs"), reference.replace(/^#\/\$defs\//, ""))

// Strict arguments contain every property, so they tell which branch is meant; if several have the same, a constant
// does.
const fits = (args: JsonSchema, branch: JsonSchema): boolean => {
  const properties = subschema(branch, "properties")
  return (
    Object.keys(args).every((key) => key in properties) &&
    Object.entries(properties).every(([key, property]) => {
      const { const: constant } = isObject(property) ? property : {}
      return constant === undefined || constant === args[key]
    })
  )
}

class NotStrict extends Error {}

/** Keywords that strict calling refuses and that can be dropped, because the host checks them anyway. */
export const narrowing: ReadonlyArray<string> = [
  "contains",
  "default",
  "examples",
  "maxContains",
  "maxLength",
  "maxProperties",
  "minContains",
  "minLength",
  "minProperties",
  "propertyNames",
  "uniqueItems"
]

/** Keywords that strict calling refuses and that can't be dropped, because the schema would mean something else. */
export const inexpressible: ReadonlyArray<string> = [
  "allOf",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "patternProperties",
  "prefixItems",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties"
]

export const strictFormats: ReadonlyArray<string> = [
  "date",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "time",
  "uuid"
]

const strict = (schema: unknown): JsonSchema => {
  if (!isObject(schema) || inexpressible.some((keyword) => keyword in schema)) throw new NotStrict()
  if (isMap(schema)) return strictMap(schema)
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (narrowing.includes(keyword) || keyword === "title") continue
    if (keyword === "format" && !strictFormats.includes(String(value))) continue
    result[keyword === "oneOf" ? "anyOf" : keyword] = value
  }
  // Strict schemas must state the type of everything.
  if (!["type", "anyOf", "$ref"].some((keyword) => keyword in result)) throw new NotStrict()
  const types: ReadonlyArray<unknown> = [result["type"]].flat()
  if (Array.isArray(result["anyOf"])) result["anyOf"] = result["anyOf"].map(strict)
  if ("items" in result || types.includes("array")) result["items"] = strict(result["items"])
  if (isObject(result["$defs"])) result["$defs"] = mapValues(result["$defs"], strict)
  return types.includes("object") || "properties" in result ? strictObject(result) : result
}

/** A strict schema without the bounds of numbers and lists, which not every API with strict calling takes. */
export const withoutBounds = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !bounds.has(keyword))
      .map(([keyword, value]) => {
        if (keyword === "properties" || keyword === "$defs") return [keyword, mapValues(value as JsonSchema, unbounded)]
        if (keyword === "anyOf") return [keyword, (value as ReadonlyArray<unknown>).map(unbounded)]
        return [keyword, keyword === "items" ? unbounded(value) : value]
      })
  )

const unbounded = (schema: unknown): JsonSchema => withoutBounds(schema as JsonSchema)

const bounds = new Set([
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "multipleOf",
  "pattern"
])

/** True for an object whose keys are the caller's, all with values of one schema. */
const isMap = (schema: JsonSchema): boolean =>
  schema["type"] === "object" &&
  !isFilled(subschema(schema, "properties")) &&
  isFilled(subschema(schema, "additionalProperties"))

interface Pair {
  readonly name: string
  readonly value: unknown
}

const isPair = (value: unknown): value is Pair =>
  isObject(value) && typeof value["name"] === "string" && "value" in value

const strictMap = ({ description, additionalProperties }: JsonSchema): JsonSchema => ({
  ...(description !== undefined && { description }),
  type: "array",
  items: {
    type: "object",
    properties: { name: { type: "string" }, value: strict(additionalProperties) },
    required: ["name", "value"],
    additionalProperties: false
  }
})

const strictObject = (schema: JsonSchema): JsonSchema => {
  const { additionalProperties } = schema
  const properties = subschema(schema, "properties")
  // An object without `properties` may have any keys, which can't be made strict.
  if (additionalProperties !== false && (additionalProperties !== undefined || !isFilled(properties)))
    throw new NotStrict()
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

const allowsNull = (schema: JsonSchema, root: JsonSchema = schema): boolean =>
  branchesOf(schema, root).some(({ type }) => [type].flat().includes("null"))

const isFilled = (schema: JsonSchema): boolean => Object.keys(schema).length > 0

const subschema = (schema: JsonSchema, key: string): JsonSchema => {
  const value = schema[key]
  return isObject(value) ? value : {}
}

const mapValues = (schemas: JsonSchema, change: (schema: unknown) => JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, change(schema)]))
