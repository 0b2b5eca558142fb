import { expect, it } from "@effect/vitest"
import type { JsonSchema } from "@haft/core"

import recorded from "../../../contracts/mcp-filesystem/tools.json" with { type: "json" }
import { mcpFilesystem, mcpFilesystemTools } from "./index.ts"

/** A schema without words, and without what says nothing. */
const shapeOf = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(shapeOf)
  if (typeof schema !== "object" || schema === null) return schema
  const entries = Object.entries(schema as JsonSchema).filter(([key]) => key !== "description")
  return Object.fromEntries(entries.map(([key, value]) => [key, shapeOf(value)]))
}

it("mcp-filesystem has the tools of the server, in its order", () => {
  expect(mcpFilesystemTools.tools.map(({ name }) => name)).toEqual(Object.keys(recorded.tools))
})

it.each(mcpFilesystemTools.tools.map((tool) => [tool.name, tool] as const))(
  "%s of mcp-filesystem publishes the schemas and hints of the server",
  (name, tool) => {
    const { inputSchema, outputSchema, annotations } = recorded.tools[name as keyof typeof recorded.tools]
    // A tool without parameters refuses any: only then can it be called in strict mode.
    const expected = name === "list_allowed_directories" ? { ...inputSchema, additionalProperties: false } : inputSchema
    expect(shapeOf(mcpFilesystem.publishInput?.(tool.inputSchema, tool))).toEqual(expected)
    expect(shapeOf(mcpFilesystem.envelope(tool.outputSchema))).toEqual(outputSchema)
    expect({ readOnlyHint: tool.risk === "read_only", openWorldHint: tool.openWorld }).toEqual({
      readOnlyHint: annotations.readOnlyHint,
      openWorldHint: annotations.openWorldHint
    })
    if (!("destructiveHint" in annotations)) return
    expect({ destructiveHint: tool.risk === "dangerous", idempotentHint: tool.idempotent }).toEqual({
      destructiveHint: annotations.destructiveHint,
      idempotentHint: annotations.idempotentHint
    })
  }
)
