import type { JsonSchema } from "@haft/core"

/** The readers of schemas that tools are written for. */
export const schemaReaders = ["openai", "openai-strict", "anthropic", "gemini"] as const
export type SchemaReader = (typeof schemaReaders)[number]

/** Something a reader would refuse, and where. */
export interface SchemaProblem {
  /** From the root of the schema, with `/`; the root itself is empty. */
  readonly path: string
  readonly problem: string
}

/** Says what an API would refuse about a tool's name and parameters. Empty when it takes them. */
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
  const totals = { properties: 0, depth: 0, enumValues: 0, characters: 0 }
  walk(tool.parameters, "", 0, (schema, path, depth) => {
    for (const keyword of rules.refuses) if (keyword in schema) say(path, `the keyword ${keyword}`)
    const properties = Object.keys(schema["properties"] ?? {})
    for (const property of properties) {
      if (!rules.property.test(property)) say(path, `the property ${property} does not match ${rules.property.source}`)
    }
    if (rules.isStrict && isObject(schema)) {
      const required = (schema["required"] ?? []) as ReadonlyArray<string>
      if (schema["additionalProperties"] !== false) say(path, "additionalProperties is not false")
      for (const property of properties) if (!required.includes(property)) say(path, `${property} is not required`)
    }
    const values = (schema["enum"] ?? []) as ReadonlyArray<unknown>
    if (rules.textEnums && values.some((value) => typeof value !== "string")) say(path, "an enum of other than texts")
    totals.properties += properties.length
    totals.depth = Math.max(totals.depth, depth)
    totals.enumValues += values.length
    totals.characters += [...properties, ...values].join("").length
  })
  for (const [what, most] of Object.entries(rules.most)) {
    const total = totals[what as keyof typeof totals]
    if (total > most) say("", `${what}: ${total}, at most ${most}`)
  }
  return problems
}

interface ReaderRules {
  readonly name: RegExp
  readonly property: RegExp
  readonly refuses: ReadonlyArray<string>
  readonly isStrict: boolean
  readonly textEnums: boolean
  readonly most: Partial<Record<"properties" | "depth" | "enumValues" | "characters", number>>
}

// What no strict reader takes, and what it would take away the point of being strict.
const inexpressible = [
  "allOf",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "patternProperties",
  "then"
]
const unchecked = [
  "default",
  "maxLength",
  "maxProperties",
  "minLength",
  "minProperties",
  "oneOf",
  "propertyNames",
  "uniqueItems"
]

const anything = /^[\s\S]*$/
const plainName = /^[a-zA-Z0-9_-]{1,64}$/

const readers: Readonly<Record<SchemaReader, ReaderRules>> = {
  openai: { name: plainName, property: anything, refuses: [], isStrict: false, textEnums: false, most: {} },
  "openai-strict": {
    name: plainName,
    property: anything,
    refuses: [...inexpressible, ...unchecked],
    isStrict: true,
    textEnums: false,
    most: { properties: 5000, depth: 10, enumValues: 1000, characters: 120_000 }
  },
  anthropic: {
    name: /^[a-zA-Z0-9_-]{1,128}$/,
    property: /^[a-zA-Z0-9_.-]{1,64}$/,
    refuses: [],
    isStrict: false,
    textEnums: false,
    most: {}
  },
  gemini: {
    name: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    property: anything,
    refuses: inexpressible,
    isStrict: false,
    textEnums: true,
    most: {}
  }
}

const isObject = (schema: JsonSchema): boolean => schema["type"] === "object" || "properties" in schema

type Visit = (schema: JsonSchema, path: string, depth: number) => void

const walk = (schema: JsonSchema, path: string, depth: number, visit: Visit): void => {
  visit(schema, path, depth)
  const below = isObject(schema) || "items" in schema ? depth + 1 : depth
  for (const keyword of ["properties", "$defs"]) {
    for (const [key, inner] of Object.entries((schema[keyword] ?? {}) as Record<string, JsonSchema>)) {
      walk(inner, `${path}/${keyword}/${key}`, below, visit)
    }
  }
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const list = (schema[keyword] ?? []) as ReadonlyArray<JsonSchema>
    for (const [at, inner] of list.entries()) walk(inner, `${path}/${keyword}/${at}`, depth, visit)
  }
  for (const keyword of ["items", "additionalProperties"]) {
    const inner = schema[keyword]
    if (typeof inner === "object" && inner !== null) walk(inner as JsonSchema, `${path}/${keyword}`, below, visit)
  }
}
