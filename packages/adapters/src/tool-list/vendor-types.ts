/** Tools that OpenAI's Responses API knows by a type, by their names in the dialect `openai`. */
export const openaiTypes = {
  shell: { type: "shell", environment: { type: "local" } },
  apply_patch: { type: "apply_patch" }
} as const

/** Types of the tools whose schema Anthropic's API knows, by their names in the dialect `anthropic`. */
export const anthropicTypes = {
  bash: "bash_20250124",
  str_replace_based_edit_tool: "text_editor_20250728",
  memory: "memory_20250818"
} as const

/** A tool as the API of its own vendor's dialect knows it; undefined where that takes a schema like any other. */
export const vendorTool = (format: string, dialect: string | undefined, name: string): object | undefined => {
  if (format !== dialect) return undefined
  if (format === "openai" && Object.hasOwn(openaiTypes, name)) return openaiTypes[name as keyof typeof openaiTypes]
  if (format !== "anthropic" || !Object.hasOwn(anthropicTypes, name)) return undefined
  return { type: anthropicTypes[name as keyof typeof anthropicTypes], name }
}
