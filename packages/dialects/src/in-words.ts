import type { ToolError } from "@haft/core"

/** Problem and remedy in one text, for contracts whose failures have one text for both. */
export const inWords = ({ message, suggestion }: Pick<ToolError, "message" | "suggestion">): string => {
  if (suggestion === undefined) return message
  return `${message}${message.includes("\n") ? "\n" : ". "}${suggestion}`
}
