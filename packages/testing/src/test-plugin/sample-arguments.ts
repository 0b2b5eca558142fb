import type { JsonSchema } from "@haft/core"
import * as z from "zod"

/** Made-up arguments that fit a schema, for a tool without an example call. */
export const sampleArguments = (schema: JsonSchema): Readonly<Record<string, unknown>> => {
  return Object.fromEntries(requiredOf(schema).map((key) => [key, sampleOf(propertiesOf(schema)[key] ?? {})]))
}

export const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema["properties"] ?? {}) as Record<string, JsonSchema>

/** Arguments that a tool must refuse, each with what is wrong with it. `args` are right. */
export const wrongArguments = (
  schema: JsonSchema,
  own: JsonSchema,
  args: Readonly<Record<string, unknown>>
): ReadonlyArray<{ readonly args: unknown; readonly wrong: string }> => {
  const missing = requiredOf(own).map((key) => ({ args: without(args, key), wrong: `without '${key}'` }))
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

/**
 * Some contracts publish optional parameters as required, for strict calling. For each of these: arguments without it,
 * and arguments with the value that must mean the same, its default or null.
 */
export const leftOut = (
  schema: JsonSchema,
  own: JsonSchema,
  args: Readonly<Record<string, unknown>>
): ReadonlyArray<{ readonly key: string; readonly without: unknown; readonly meant: unknown }> =>
  requiredOf(schema)
    .filter((key) => !requiredOf(own).includes(key))
    .flatMap((key) => {
      const property = propertiesOf(schema)[key] ?? {}
      if (!("default" in property) && !takes(property, null)) return []
      return [{ key, without: without(args, key), meant: { ...args, [key]: property["default"] ?? null } }]
    })

const requiredOf = (schema: JsonSchema): ReadonlyArray<string> => (schema["required"] ?? []) as ReadonlyArray<string>

const without = (args: Readonly<Record<string, unknown>>, key: string): unknown => {
  const { [key]: _left, ...rest } = args
  return rest
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
