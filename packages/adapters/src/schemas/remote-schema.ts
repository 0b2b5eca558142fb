import { type JsonSchema } from "@haft/core"
import { inputJsonSchema } from "@haft/core/internal"
import * as z from "zod"

import { lintTool } from "./lint-schema.ts"
import { isObject } from "./malformed-schema.ts"

/**
 * The parameters of a tool of another server. Properties whose schema can't be read here, or would be refused by a
 * model API, are accepted with any value: the other server checks them anyway, and one odd tool must not make all
 * unusable.
 */
export const remoteParameters = (schema: JsonSchema): z.ZodObject => {
  const calm = withoutPatterns(schema) as JsonSchema
  const whole = read(calm)
  if (whole instanceof z.ZodObject) return whole
  const { properties, required, $defs } = calm
  if (!isObject(properties)) return z.looseObject({})
  const needed: ReadonlyArray<unknown> = Array.isArray(required) ? required : []
  return z.looseObject(
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const value =
          read({ ...(isObject(property) && property), ...(isObject($defs) && { $defs }) }) ?? anything(property)
        return [name, needed.includes(name) ? value : value.optional()]
      })
    )
  )
}

const read = (schema: JsonSchema): z.ZodType | undefined => {
  try {
    const shape = z.fromJSONSchema(schema)
    return isListable(shape) ? shape : undefined
  } catch {
    return undefined
  }
}

// A schema that an API refuses would make every request fail that offers the tool.
const isListable = (shape: z.ZodType): boolean => {
  const whole = shape instanceof z.ZodObject ? shape : z.object({ value: shape })
  const tool = { name: "any", parameters: inputJsonSchema(whole) }
  return (["openai", "anthropic", "gemini"] as const).every((reader) => lintTool(tool, reader).length === 0)
}

const anything = (property: unknown): z.ZodType => {
  const { description } = isObject(property) ? property : {}
  return typeof description === "string" ? z.unknown().describe(description) : z.unknown()
}

// Regular expressions are not run, because they come from another server and might take for ever. They become part of
// the description, for the model to read.
const withoutPatterns = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutPatterns)
  if (!isObject(value)) return value
  const { pattern, patternProperties: _patterns, ...rest } = value
  const calm = Object.fromEntries(Object.entries(rest).map(([keyword, part]) => [keyword, calmPart(keyword, part)]))
  if (typeof pattern !== "string") return calm
  return { ...calm, description: [rest["description"], `Pattern: ${pattern}`].filter(Boolean).join(". ") }
}

const calmPart = (keyword: string, part: unknown): unknown => {
  if (["const", "default", "enum", "examples"].includes(keyword)) return part
  const isMap = (keyword === "properties" || keyword === "$defs") && isObject(part)
  if (!isMap) return withoutPatterns(part)
  return Object.fromEntries(Object.entries(part).map(([name, schema]) => [name, withoutPatterns(schema)]))
}
