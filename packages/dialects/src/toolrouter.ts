import { defineDialect, type Dialect, type JsonSchema } from "@haft/core"

import { inWords } from "./in-words.ts"

/**
 * The toolrouter contract: the documented object itself, or `{ error, message }`. It has no codes of its
 * own. Its schemas are written for strict function calling: every parameter listed as required.
 */
export const toolrouter: Dialect<"toolrouter"> = defineDialect({
  name: "toolrouter",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => output,
  failure: ({ error, errorName }) => ({ error: errorName, message: inWords(error) }),
  envelope: (output) => ({
    type: "object",
    anyOf: [
      output,
      {
        type: "object",
        properties: { error: { type: "string" }, message: { type: "string" } },
        required: ["error", "message"]
      }
    ]
  }),
  publishInput: (schema, tool) => {
    const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)
    return {
      title: `${titleOf(tool.name.replace(/_(?:json|freeform)$/, "")).replaceAll(" ", "")}Input`,
      type: "object",
      properties: Object.fromEntries(
        properties.map(([name, property]) => [name, { title: titleOf(name), ...property }])
      ),
      required: properties.map(([name]) => name),
      additionalProperties: false
    }
  }
})

const titleOf = (name: string): string =>
  name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ")
