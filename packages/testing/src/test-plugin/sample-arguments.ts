import type { JsonSchema } from "@haft/core"
import * as z from "zod"

/** Arguments that fit a schema, for a tool nobody gave an example of. */
export const sampleArguments = (schema: JsonSchema): Readonly<Record<string, unknown>> => {
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  return Object.fromEntries(required.map((key) => [key, sampleOf(propertiesOf(schema)[key] ?? {})]))
}

export const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema["properties"] ?? {}) as Record<string, JsonSchema>

/** Arguments that do not fit, each with what is wrong about it. `args` is what does fit. */
export const wrongArguments = (
  schema: JsonSchema,
  args: Readonly<Record<string, unknown>>
): ReadonlyArray<{ readonly args: unknown; readonly wrong: string }> => {
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  // Where null is taken, some contracts publish a parameter as required that may be left out all the same: see
  // leftOut for what is then meant.
  const needed = required.filter((key) => !takes(propertiesOf(schema)[key] ?? {}, null))
  const missing = needed.map((key) => {
    const { [key]: _left, ...rest } = args
    return { args: rest, wrong: `without '${key}'` }
  })
  const odd = Object.entries(propertiesOf(schema)).flatMap(([key, property]) => {
    const value = oddValues.find((candidate) => !takes(property, candidate))
    return value === undefined
      ? []
      : [{ args: { ...args, [key]: value }, wrong: `with '${key}' as ${JSON.stringify(value)}` }]
  })
  return [
    { args: { ...args, no_such_parameter: 1 }, wrong: "with a parameter it does not know" },
    { args: "text", wrong: "with a text in place of parameters" },
    ...missing,
    ...odd
  ]
}

/** Calls without a parameter that is required and takes null, each beside the call that sends null. */
export const leftOut = (
  schema: JsonSchema,
  args: Readonly<Record<string, unknown>>
): ReadonlyArray<{ readonly key: string; readonly without: unknown; readonly withNull: unknown }> => {
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  return required
    .filter((key) => takes(propertiesOf(schema)[key] ?? {}, null))
    .map((key) => {
      const { [key]: _left, ...without } = args
      return { key, without, withNull: { ...args, [key]: null } }
    })
}

const takes = (schema: JsonSchema, value: unknown): boolean => z.fromJSONSchema(schema).safeParse(value).success

const oddValues = [{ odd: { value: 1 } }, 42.5, "text", true, null, [[]]]

const sampleOf = (schema: JsonSchema): unknown => {
  if ("default" in schema) return schema["default"]
  if ("const" in schema) return schema["const"]
  const choices = schema["enum"] as ReadonlyArray<unknown> | undefined
  if (choices !== undefined) return choices[0]
  const [first] = (schema["anyOf"] ?? schema["oneOf"] ?? []) as ReadonlyArray<JsonSchema>
  if (first !== undefined) return sampleOf(first)
  const type = [schema["type"]].flat()[0]
  if (type === "object") return sampleArguments(schema)
  if (type === "array") return (schema["minItems"] as number) > 0 ? [sampleOf(schema["items"] as JsonSchema)] : []
  if (type === "boolean") return false
  if (type === "number" || type === "integer") return schema["minimum"] ?? 1
  return "sample.txt".padEnd((schema["minLength"] as number | undefined) ?? 0, "x")
}
