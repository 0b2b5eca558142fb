import type { JsonSchema, ToolDescription } from "@haft/core"

import { mcpTool } from "../mcp/tool.ts"
import { legalNames } from "./names.ts"
import { vendorTool } from "./vendor-types.ts"

export const exportFormats = ["json", "openai", "anthropic", "gemini", "mcp"] as const
export type ExportFormat = (typeof exportFormats)[number]

/**
 * The tools that models are shown, in the format of an API and with names that it accepts. `json` is haft's own format,
 * which has everything, deferred tools too. Tools of the `openai` and `anthropic` dialects that the vendor's own API knows
 * by a type are exported by that type.
 */
export const exportTools = (
  tools: ReadonlyArray<ToolDescription>,
  format: ExportFormat,
  dialect?: string
): ReadonlyArray<object> => {
  // A copy has the schemas as values; a host's own descriptions make them by getters.
  if (format === "json") return tools.map((tool) => ({ ...tool }))
  const { legal } = legalNames(tools.map(({ name }) => name))
  return tools
    .filter(({ deferred }) => deferred !== true)
    .map((tool) => vendorTool(format, dialect, tool.name) ?? shapes[format](tool, legal(tool.name)))
}

/** A function as OpenAI's Responses API and most others of its kind describe it. */
const openaiFunction = (tool: ToolDescription, name: string): OpenAIFunction => ({
  type: "function",
  name,
  description: tool.description,
  parameters: tool.inputSchema,
  strict: false
})

export interface OpenAIFunction {
  readonly type: "function"
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly strict: boolean
}

/** A tool as Anthropic's Messages API describes it. */
export const anthropicTool = (tool: ToolDescription, name: string): AnthropicTool => ({
  name,
  description: tool.description,
  input_schema: { type: "object", ...tool.inputSchema }
})

export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: { readonly type: "object"; readonly [key: string]: unknown }
}

/** A function declaration as Gemini's API takes it, with JSON Schemas of the parameters and of the reply. */
export const geminiFunction = (tool: ToolDescription, name: string): GeminiFunction => ({
  name,
  description: tool.description,
  parametersJsonSchema: { type: "object", ...tool.inputSchema },
  ...(tool.hidesReplySchema !== true && { responseJsonSchema: { type: "object", ...tool.replySchema } })
})

export interface GeminiFunction {
  readonly name: string
  readonly description: string
  readonly parametersJsonSchema: JsonSchema
  readonly responseJsonSchema?: JsonSchema
}

const shapes = {
  openai: openaiFunction,
  anthropic: anthropicTool,
  gemini: geminiFunction,
  mcp: mcpTool
} satisfies Record<Exclude<ExportFormat, "json">, (tool: ToolDescription, name: string) => object>
