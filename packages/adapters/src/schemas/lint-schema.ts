import type { JsonSchema } from "@haft/core"

import { isObject, malformedIn } from "./malformed-schema.ts"
import { inexpressible, narrowing, strictFormats } from "./strict-schema.ts"

/** The APIs that read the schemas of tools, each with rules of its own. */
export const schemaReaders = ["openai", "openai-strict", "anthropic", "gemini"] as const
export type SchemaReader = (typeof schemaReaders)[number]

/** Something a reader would refuse, and where. */
export interface SchemaProblem {
  /** Keywords and keys from the root of the schema, joined with `/`; empty for the root. */
  readonly path: string
  readonly problem: string
}

/** Problems that an API would refuse in the name and parameters of a tool; empty if it accepts them. */
export const lintTool = (
  tool: { readonly name: string; readonly parameters: JsonSchema },
  reader: SchemaReader
): ReadonlyArray<SchemaProblem> => {
  const rules = readers[reader]
  const problems: Array<SchemaProblem> = []
  const say = (path: string, problem: string): void => void problems.push({ path, problem })
  if (!rules.name.test(tool.name)) say("", `the name ${tool.name} does not match ${rules.name.source}`)
  if (tool.parameters["type"] !== "object") say("", "the parameters are not an object")
  for (const keyword of ["anyOf", "oneOf", "allOf", "enum", "not"]) {
    if (keyword in tool.parameters) say("", `${keyword} at the root`)
  }
  if (rules.namesProperties && !("properties" in tool.parameters)) say("", "an object that does not say its properties")
  const totals = { properties: 0, depth: 0, enumValues: 0, characters: 0 }
  walk(tool.parameters, "", 0, (schema, path, depth) => {
    for (const problem of [...malformedIn(schema), ...refusedBy(rules, schema)]) say(path, problem)
    const properties = keysOf(schema["properties"])
    const values = listOf(schema["enum"])
    totals.properties += properties.length
    totals.depth = Math.max(totals.depth, depth)
    totals.enumValues += values.length
    totals.characters += lengthOf([...properties, ...keysOf(schema["$defs"]), ...values, schema["const"] ?? ""])
  })
  for (const [what, most] of Object.entries(rules.most)) {
    const total = totals[what as keyof typeof totals]
    if (total > most) say("", `${what}: ${total}, at most ${most}`)
  }
  return problems
}

// Faults that an API refuses one schema for, without those inside it.
const refusedBy = (rules: ReaderRules, schema: JsonSchema): ReadonlyArray<string> => {
  const { type, format, items, required, additionalProperties } = schema
  const properties = keysOf(schema["properties"])
  const values = listOf(schema["enum"])
  const named = listOf(required)
  const texts = values.filter((value) => typeof value === "string")
  const says = (wrong: boolean, problem: string): ReadonlyArray<string> => (wrong ? [problem] : [])
  return [
    ...rules.refuses.filter((keyword) => keyword in schema).map((keyword) => `the keyword ${keyword}`),
    ...properties
      .filter((property) => !rules.property.test(property))
      .map((property) => `the property ${property} does not match ${rules.property.source}`),
    ...says(rules.wantsItems && isOfType(type, "array") && items === undefined, "an array without items"),
    ...(rules.knowsRequired ? named.filter((name) => !properties.includes(String(name))) : []).map(
      (name) => `${String(name)} is required and not among the properties`
    ),
    ...says(rules.textEnums && texts.length < values.length, "an enum of other than texts"),
    ...(rules.isStrict
      ? [
          ...says(isObjectSchema(schema) && additionalProperties !== false, "additionalProperties is not false"),
          ...properties
            .filter((property) => !named.includes(property))
            .map((property) => `${property} is not required`),
          ...says(!["type", "anyOf", "$ref"].some((keyword) => keyword in schema), "no type"),
          ...says(typeof format === "string" && !strictFormats.includes(format), `the format ${String(format)}`),
          ...says(texts.length > 250 && lengthOf(texts) > 15_000, "an enum of more than 250 texts and 15000 letters")
        ]
      : [])
  ]
}

interface ReaderRules {
  readonly name: RegExp
  readonly property: RegExp
  readonly refuses: ReadonlyArray<string>
  readonly isStrict: boolean
  readonly textEnums: boolean
  readonly wantsItems: boolean
  /** True if the parameters must have `properties`, even if there are none. */
  readonly namesProperties: boolean
  /** True if all names in `required` must be among the properties. */
  readonly knowsRequired: boolean
  readonly most: Partial<Record<"properties" | "depth" | "enumValues" | "characters", number>>
}

const anything = /^[\s\S]*$/
const plainName = /^[a-zA-Z0-9_-]{1,64}$/

const lenient: ReaderRules = {
  name: plainName,
  property: anything,
  refuses: [],
  isStrict: false,
  textEnums: false,
  wantsItems: false,
  namesProperties: false,
  knowsRequired: false,
  most: {}
}

const readers: Readonly<Record<SchemaReader, ReaderRules>> = {
  openai: { ...lenient, wantsItems: true, namesProperties: true },
  "openai-strict": {
    ...lenient,
    refuses: [...inexpressible, ...narrowing, "oneOf"],
    isStrict: true,
    wantsItems: true,
    namesProperties: true,
    knowsRequired: true,
    most: { properties: 5000, depth: 10, enumValues: 1000, characters: 120_000 }
  },
  anthropic: { ...lenient, name: /^[a-zA-Z0-9_-]{1,128}$/, property: /^[a-zA-Z0-9_.-]{1,64}$/ },
  gemini: {
    ...lenient,
    name: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    refuses: inexpressible.filter((keyword) => keyword !== "prefixItems"),
    textEnums: true,
    wantsItems: true,
    knowsRequired: true
  }
}

const isOfType = (type: unknown, name: string): boolean => type === name || listOf(type).includes(name)
const isObjectSchema = ({ type, properties }: JsonSchema): boolean => isOfType(type, "object") || isObject(properties)

const keysOf = (value: unknown): ReadonlyArray<string> => (isObject(value) ? Object.keys(value) : [])
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const lengthOf = (values: ReadonlyArray<unknown>): number => values.map(String).join("").length

type Visit = (schema: JsonSchema, path: string, depth: number) => void

// A value that is no schema is skipped: `malformedIn` has reported it at the schema around it.
const walk = (schema: unknown, path: string, depth: number, visit: Visit): void => {
  if (!isObject(schema)) return
  visit(schema, path, depth)
  const below = isObjectSchema(schema) || "items" in schema ? depth + 1 : depth
  for (const keyword of ["properties", "$defs"]) {
    const named = schema[keyword]
    for (const key of keysOf(named)) walk((named as JsonSchema)[key], `${path}/${keyword}/${key}`, below, visit)
  }
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    for (const [at, inner] of listOf(schema[keyword]).entries()) walk(inner, `${path}/${keyword}/${at}`, depth, visit)
  }
  for (const keyword of ["items", "additionalProperties"]) walk(schema[keyword], `${path}/${keyword}`, below, visit)
}
