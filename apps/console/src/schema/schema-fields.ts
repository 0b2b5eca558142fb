import { isObject } from "../is-object.ts"
import type { JsonSchema } from "../wire.ts"

/** One field of a form that was made from a schema. */
export interface SchemaField {
  readonly name: string
  readonly kind: "text" | "long_text" | "number" | "boolean" | "choice" | "lines" | "list" | "json"
  readonly description: string
  readonly isRequired: boolean
  readonly choices: ReadonlyArray<string>
  readonly minimum?: number
  readonly maximum?: number
  readonly isInteger: boolean
  /** The fields that each entry of a list has. */
  readonly entryFields: ReadonlyArray<SchemaField>
  /** The schema's default: the value when the field is left empty. */
  readonly fallback?: unknown
}

/** Text typed into each field, by the field's name. */
export type FieldTexts = Readonly<Record<string, string>>

export type FieldsRead =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly problems: Readonly<Record<string, string>> }

const longNames = /content|code|patch|diff|text|stdin|replace|find/i

export const fieldsOf = (schema: JsonSchema): ReadonlyArray<SchemaField> =>
  Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fieldOf(name, property, schema.required?.includes(name) ?? false)
  )

const fieldOf = (name: string, property: JsonSchema, isRequired: boolean): SchemaField => ({
  name,
  kind: kindOf(name, property),
  description: property.description ?? "",
  isRequired,
  choices: (property.enum ?? []).map(String),
  isInteger: property.type === "integer",
  entryFields: fieldsOf(property.items ?? {}),
  ...(property.minimum !== undefined && { minimum: property.minimum }),
  ...(property.maximum !== undefined && { maximum: property.maximum }),
  ...(property.default !== undefined && { fallback: property.default })
})

const kindOf = (name: string, property: JsonSchema): SchemaField["kind"] => {
  if (property.enum !== undefined && property.enum.every((choice) => typeof choice === "string")) return "choice"
  if (property.type === "boolean") return "boolean"
  if (property.type === "integer" || property.type === "number") return "number"
  if (property.type === "string") return longNames.test(name) ? "long_text" : "text"
  if (property.type === "array" && property.items?.type === "string" && property.items.enum === undefined) {
    return "lines"
  }
  if (property.type === "array" && property.items?.properties !== undefined) return "list"
  return "json"
}

/** Values as the texts that their fields show. */
export const textsOf = (fields: ReadonlyArray<SchemaField>, values: Readonly<Record<string, unknown>>): FieldTexts =>
  Object.fromEntries(fields.map((field) => [field.name, textOf(field, values[field.name])]))

const textOf = ({ kind }: SchemaField, value: unknown): string => {
  if (value === undefined) return ""
  if (kind === "lines" && Array.isArray(value)) return value.join("\n")
  if (kind === "json" || kind === "list") return JSON.stringify(value, undefined, 2)
  return typeof value === "string" ? value : JSON.stringify(value)
}

/**
 * Reads the values from the texts, or says what is wrong with them, by field. An empty field has no value, unless it is
 * required or had one before: then a text is "" and a list of lines is [].
 */
export const readFields = (
  fields: ReadonlyArray<SchemaField>,
  texts: FieldTexts,
  before: Readonly<Record<string, unknown>> = {}
): FieldsRead => {
  const values: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const text = texts[field.name] ?? ""
    const isText = field.kind === "text" || field.kind === "long_text"
    if (text === "" && !(isText && (field.isRequired || typeof before[field.name] === "string"))) {
      if (field.isRequired && field.kind !== "lines") problems[field.name] = "This is needed."
      else if (field.kind === "lines" && (field.isRequired || field.name in before)) values[field.name] = []
      continue
    }
    const read = readField(field, text)
    if ("problem" in read) problems[field.name] = read.problem
    else values[field.name] = read.value
  }
  return Object.keys(problems).length > 0 ? { problems } : { values }
}

/** The entries in the text of a list; undefined where the text is not a list of objects, and is edited as JSON. */
export const entriesIn = ({ isRequired }: SchemaField, text: string): ReadonlyArray<Entry> | undefined => {
  const read = text === "" ? { value: isRequired ? [{}] : [] } : readJson(text)
  return "value" in read && Array.isArray(read.value) && read.value.every(isObject) ? read.value : undefined
}

/**
 * The text of a list after a field of an entry was edited. A wrong value is kept as typed, and refused by the server.
 */
export const withEntryText = (
  entries: ReadonlyArray<Entry>,
  { at, field, text }: { readonly at: number; readonly field: SchemaField; readonly text: string }
): string =>
  textOfEntries(
    entries.map((entry, index) => {
      if (index !== at) return entry
      const { [field.name]: _before, ...others } = entry
      const read = text === "" && !field.isRequired ? undefined : readField(field, text)
      if (read === undefined) return others
      return { ...entry, [field.name]: "value" in read ? read.value : text }
    })
  )

export const textOfEntries = (entries: ReadonlyArray<Entry>): string => JSON.stringify(entries, undefined, 2)

export type Entry = Readonly<Record<string, unknown>>

type FieldRead = { readonly value: unknown } | { readonly problem: string }

const readField = (field: SchemaField, text: string): FieldRead => {
  if (field.kind === "boolean") return { value: text === "true" }
  if (field.kind === "lines") return { value: text.split("\n") }
  if (field.kind === "number") return readNumber(field, text)
  if (field.kind === "json" || field.kind === "list") return readJson(text)
  return { value: text }
}

const readJson = (text: string): FieldRead => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: "This is not JSON." }
  }
}

const readNumber = ({ minimum, maximum, isInteger }: SchemaField, text: string): FieldRead => {
  const value = Number(text)
  if (!Number.isFinite(value)) return { problem: "This is not a number." }
  if (isInteger && !Number.isInteger(value)) return { problem: "This must be a whole number." }
  if (minimum !== undefined && value < minimum) return { problem: `The least is ${minimum}.` }
  if (maximum !== undefined && value > maximum) return { problem: `The most is ${maximum}.` }
  return { value }
}
