import type { JsonSchema, ToolDescription } from "haft"

import { table, wrapped } from "./terminal.ts"

/** What one tool does and takes, from its schema. */
export const toolPage = ({ name, description, risk, inputSchema }: ToolDescription): string => {
  const parameters = parametersOf(inputSchema)
  const needed = parameters.filter(({ isNeeded }) => isNeeded).map(({ key }) => `${key}=…`)
  const more = needed.length < parameters.length ? ["[KEY=VALUE …]"] : []
  return [
    wrapped(`haft call ${name} (${risk}): ${description}`, 2),
    wrapped(`Usage: haft call ${[name, ...needed, ...more].join(" ")} [options]`, 7),
    parameters.length === 0 ? "It takes nothing." : table(rowsOf(inputSchema, "  "), { goesOn: true }),
    "Options: haft call --help\n"
  ].join("\n\n")
}

interface Parameter {
  readonly key: string
  readonly schema: JsonSchema
  readonly isNeeded: boolean
}

const parametersOf = ({ properties = {}, required = [] }: JsonSchema): ReadonlyArray<Parameter> =>
  Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([key, schema]) => ({
    key,
    schema,
    isNeeded: (required as ReadonlyArray<string>).includes(key)
  }))

// What an object has inside stands below it, moved in.
const rowsOf = (schema: JsonSchema, indent: string): Array<ReadonlyArray<string>> =>
  parametersOf(schema).flatMap(({ key, schema: its, isNeeded }) => [
    [`${indent}${key}`, typeOf(its) + (isNeeded ? ", needed" : defaultOf(its)), String(its["description"] ?? "")],
    ...[its, ...alternativesOf(its)].flatMap((one) => rowsOf((one["items"] as JsonSchema) ?? one, `${indent}  `))
  ])

const alternativesOf = ({ anyOf, oneOf }: JsonSchema): ReadonlyArray<JsonSchema> =>
  (anyOf ?? oneOf ?? []) as ReadonlyArray<JsonSchema>

const typeOf = (schema: JsonSchema): string => {
  const { enum: values, type, items } = schema
  if (Array.isArray(values)) return values.join("|")
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(" or ")
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonSchema)}`
  return type === undefined ? "anything" : [type].flat().join(" or ")
}

const defaultOf = ({ default: value }: JsonSchema): string =>
  value === undefined || value === null ? "" : ` (${typeof value === "string" ? value : JSON.stringify(value)})`
