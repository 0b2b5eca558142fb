import type { JsonSchema, ToolDescription } from "haft/internal"

import { table, wrapped } from "./table.ts"

/** Description and parameters of one tool, from its schema. */
export const toolPage = ({ name, description, risk, inputSchema }: ToolDescription): string => {
  const parameters = parametersOf(inputSchema)
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ key }) => `${key}=…`)
  const more = required.length < parameters.length ? ["[KEY=VALUE …]"] : []
  return [
    wrapped(`haft call ${name} (${risk}): ${description}`, 2),
    wrapped(`Usage: haft call ${[name, ...required, ...more].join(" ")} [options]`, 7),
    parameters.length === 0 ? "It takes nothing." : table(rowsOf(inputSchema, "  "), { goesOn: true }),
    "Options: haft call --help\n"
  ].join("\n\n")
}

interface Parameter {
  readonly key: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

const parametersOf = ({ properties = {}, required = [] }: JsonSchema): ReadonlyArray<Parameter> =>
  Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([key, schema]) => ({
    key,
    schema,
    isRequired: (required as ReadonlyArray<string>).includes(key)
  }))

type Row = ReadonlyArray<string>

// The fields of an object are indented below it.
const rowsOf = (schema: JsonSchema, indent: string): Array<Row> =>
  parametersOf(schema).flatMap((parameter) =>
    [rowOf(parameter, indent)].concat(insideOf(parameter.schema).flatMap((one) => rowsOf(one, `${indent}  `)))
  )

const rowOf = ({ key, schema, isRequired }: Parameter, indent: string): Row => {
  const { description = "" } = schema as { readonly description?: string }
  return [`${indent}${key}`, typeOf(schema) + (isRequired ? ", required" : defaultOf(schema)), description]
}

const insideOf = (schema: JsonSchema): ReadonlyArray<JsonSchema> =>
  [schema].concat(alternativesOf(schema)).map((one) => (one["items"] ?? one) as JsonSchema)

const alternativesOf = ({ anyOf, oneOf }: JsonSchema): ReadonlyArray<JsonSchema> =>
  (anyOf ?? oneOf ?? []) as ReadonlyArray<JsonSchema>

const typeOf = (schema: JsonSchema): string => {
  const {
    enum: values,
    type = "anything",
    items
  } = schema as { readonly type?: string | ReadonlyArray<string> } & JsonSchema
  if (Array.isArray(values)) return values.join("|")
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(" or ")
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonSchema)}`
  return [type].flat().join(" or ")
}

const defaultOf = ({ default: value }: JsonSchema): string =>
  value === undefined || value === null ? "" : ` (${typeof value === "string" ? value : JSON.stringify(value)})`
