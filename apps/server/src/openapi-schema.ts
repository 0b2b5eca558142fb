import * as z from "zod"

/** A schema as a part of the document. */
export const schemaOf = (schema: z.core.$ZodType, io: "input" | "output"): object => {
  const { own, definitions } = converted(schema, io)
  if (definitions.some((definition) => named(definition) !== JSON.stringify(anyJson))) {
    throw new Error("A schema that refers to itself needs a name in the document's components.")
  }
  return JSON.parse(named(own)) as object
}

// Below an object: at the root, a schema that refers to itself would have no name to be referred to by.
const converted = (schema: z.core.$ZodType, io: "input" | "output") => {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: "any" })
  return { own: properties?.["schema"] ?? {}, definitions: Object.values($defs) }
}

// Zod numbers what refers to itself anew in every schema.
const named = (schema: unknown): string =>
  JSON.stringify(schema).replaceAll(/"\$ref":"#\/\$defs\/\w+"/g, '"$ref":"#/components/schemas/Json"')

/** JSON of any shape, the one schema here that refers to itself: the document has it once. */
export const anyJson = JSON.parse(named(converted(z.json(), "output").definitions[0])) as object
