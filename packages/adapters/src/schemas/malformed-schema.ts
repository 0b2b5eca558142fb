/** Violations of JSON Schema 2020-12 in a schema, without those of nested schemas. Every API refuses such a schema. */
export const malformedIn = (schema: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    const expected = expectations.get(keyword)
    return expected === undefined || expected.holds(value) ? [] : [`${keyword} is not ${expected.what}`]
  })

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface Expectation {
  readonly what: string
  readonly holds: (value: unknown) => boolean
}

const typeNames: ReadonlyArray<unknown> = ["array", "boolean", "integer", "null", "number", "object", "string"]

const isSchema = (value: unknown): boolean => isObject(value) || typeof value === "boolean"
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value)
const isFilled = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value) && value.length > 0
const isPattern = (value: unknown): boolean => {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp
  } catch {
    return false
  }
}

const all = (keywords: string, what: string, holds: Expectation["holds"]): ReadonlyArray<[string, Expectation]> =>
  keywords.split(" ").map((keyword) => [keyword, { what, holds }])

const expectations: ReadonlyMap<string, Expectation> = new Map([
  ...all("type", "a type, nor a list of types", (value) =>
    isFilled(value) ? value.every((name) => typeNames.includes(name)) : typeNames.includes(value)
  ),
  ...all("properties patternProperties $defs dependentSchemas", "schemas by name", (value) =>
    isObject(value) ? Object.values(value).every(isSchema) : false
  ),
  ...all("anyOf oneOf allOf prefixItems", "a list of schemas", (value) => isFilled(value) && value.every(isSchema)),
  ...all(
    "items additionalProperties propertyNames contains not if then else unevaluatedItems unevaluatedProperties",
    "a schema",
    isSchema
  ),
  ...all("required", "a list of names, each once", (value) =>
    Array.isArray(value)
      ? value.every((name) => typeof name === "string") && new Set(value).size === value.length
      : false
  ),
  ...all("enum", "a list of values", isFilled),
  ...all("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf", "a number", isNumber),
  ...all(
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    "a whole number",
    (value) => Number.isInteger(value) && (value as number) >= 0
  ),
  ...all("pattern", "a regular expression", isPattern),
  ...all("description title format $ref $schema $id", "a text", (value) => typeof value === "string")
])
