import {
  defineDialect,
  type Dialect,
  type ErrorCode,
  type Failure,
  type JsonSchema,
  makeToolError,
  singleLine,
  type ToolError
} from "@haft/core"
import * as z from "zod"

/** The release of Gemini CLI that the tools follow, with the set for gemini-3 models. */
export const followedRelease = "0.61.0"

const errorNames = {
  invalid_params: "invalid_tool_params",
  path_outside_workspace: "path_not_in_workspace",
  symlink_blocked: "path_not_in_workspace",
  is_directory: "target_is_directory",
  match_not_found: "edit_no_occurrence_found",
  match_not_unique: "edit_expected_occurrence_mismatch",
  command_failed: "shell_execute_error",
  search_failed: "grep_execution_error",
  network_error: "web_fetch_processing_error",
  write_failed: "file_write_failure"
} satisfies Partial<Record<ErrorCode, string>>

/** The contract of Gemini CLI's own tools: `llmContent`, what the model reads, and a typed `error` where there is one. */
export const geminiCli: Dialect<"gemini-cli"> = defineDialect({
  name: "gemini-cli",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames,
  success: ({ output, isForeign, text }) => (isForeign ? { llmContent: text } : output),
  failure: (failure) => ({ llmContent: failureText(failure), error: { type: typeOf(failure) } }),
  failureText: (failure) => failureText(failure),
  // Gemini CLI publishes no ban on further parameters. They are refused all the same: nobody would know what they mean.
  publishInput: (schema) => withoutBan(schema) as JsonSchema,
  envelope: () => ({
    type: "object",
    properties: {
      llmContent: { type: "string" },
      error: { type: "object", properties: { type: { type: "string" } }, required: ["type"] }
    },
    required: ["llmContent"]
  })
})

/** Reply schema that all tools of the contract share. */
export const answer = z.object({ llmContent: z.string() })

/** A failure in Gemini CLI's own words, which are handed out as they are, perhaps of a type that only one tool has. */
export const worded = <Code extends ErrorCode>(code: Code, message: string, type?: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true, ...(type !== undefined && { type }) } })

const typeOf = ({ error, errorName }: Failure): string =>
  typeof error.details?.["type"] === "string" ? error.details["type"] : errorName

const failureText = ({ error }: Failure): string => {
  if (error.details?.["worded"] === true) return error.message
  const message = error.message.split("\n").map(singleLine).join("\n  ")
  return error.suggestion === undefined ? message : `${message}\n${error.suggestion}`
}

// Without parameters the ban stays: only with it can such a tool be called in strict mode.
const withoutBan = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutBan)
  if (typeof schema !== "object" || schema === null) return schema
  const { properties } = schema as { readonly properties?: object }
  const isBanned = (key: string): boolean => key === "additionalProperties" && Object.keys(properties ?? {}).length > 0
  const entries = Object.entries(schema).filter(([key]) => !isBanned(key))
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutBan(value)]))
}
