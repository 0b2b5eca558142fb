import * as z from "zod"

/** A zod schema as a part of the OpenAPI document. */
export const schemaOf = (schema: z.core.$ZodType, io: "input" | "output"): object => {
  const { own, definitions } = converted(schema, io)
  if (definitions.some((definition) => named(definition) !== JSON.stringify(anyJson))) {
    throw new Error("A schema that refers to itself needs a name in the document's components.")
  }
  return JSON.parse(named(own)) as object
}

// Wrapped in an object, because zod gives a recursive schema a name in `$defs` only when it is not the root.
const converted = (schema: z.core.$ZodType, io: "input" | "output") => {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: "any" })
  return { own: properties?.["schema"] ?? {}, definitions: Object.values($defs) }
}

// In each conversion zod names recursive schemas anew (`__schema0`); in the document they are all `Json`.
const named = (schema: unknown): string =>
  JSON.stringify(schema).replaceAll(/"\$ref":"#\/\$defs\/\w+"/g, '"$ref":"#/components/schemas/Json"')

/** The schema of any JSON value, the only recursive one in the document, where it is a component called `Json`. */
export const anyJson = JSON.parse(named(converted(z.json(), "output").definitions[0])) as object
