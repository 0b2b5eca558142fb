import { defineDialect, type Dialect, type ErrorCode } from "@haft/core"

import { inWords } from "./in-words.ts"

const errorNames = {
  path_outside_workspace: "path_escape",
  patch_hunk_failed: "patch_hunk_fail",
  already_applied: "patch_hunk_fail",
  invalid_pattern: "ripgrep_error",
  search_unavailable: "ripgrep_unavailable",
  search_failed: "ripgrep_error",
  command_failed: "abnormal_exit",
  command_not_found: "abnormal_exit",
  sandbox_unavailable: "sandbox_error"
} satisfies Partial<Record<ErrorCode, string>>

const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] })

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

/**
 * The agentbench contract: a `ToolResult` with times, data and error, every field always there.
 * Fields of `run` stand at the top level too, also when the command failed.
 */
export const agentbench: Dialect<"agentbench"> = defineDialect({
  name: "agentbench",
  symlinks: "deny",
  asks: () => false,
  errorNames,
  success: ({ call, endedAt, durationMs, output }) => ({
    request_id: call.id,
    tool: call.tool,
    status: "success",
    started_at: isoTime(call.startedAt),
    ended_at: isoTime(endedAt),
    duration_sec: durationMs / 1000,
    data: output,
    error: null,
    ...commandFields(output)
  }),
  failure: ({ call, endedAt, durationMs, error, errorName }) => ({
    request_id: call.id,
    tool: call.tool,
    status: "error",
    started_at: isoTime(call.startedAt),
    ended_at: isoTime(endedAt),
    duration_sec: durationMs / 1000,
    data: error.output ?? null,
    error: { error_type: errorName, message: inWords(error), details: error.details ?? null },
    ...commandFields(error.output)
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      request_id: { type: "string" },
      tool: { type: "string" },
      status: { enum: ["success", "error"] },
      started_at: { type: "string" },
      ended_at: { type: "string" },
      duration_sec: { type: "number" },
      data: nullable(output),
      error: nullable({
        type: "object",
        properties: {
          error_type: { type: "string" },
          message: { type: "string" },
          details: nullable({ type: "object" })
        },
        required: ["error_type", "message", "details"]
      }),
      exit_code: nullable({ type: "integer" }),
      stdout_path: nullable({ type: "string" }),
      stderr_path: nullable({ type: "string" })
    },
    required: [
      "request_id",
      "tool",
      "status",
      "started_at",
      "ended_at",
      "duration_sec",
      "data",
      "error",
      "exit_code",
      "stdout_path",
      "stderr_path"
    ]
  })
})

const commandFields = (output: unknown) => {
  const { exit_code, stdout_path, stderr_path } = (output ?? {}) as Record<string, unknown>
  return { exit_code: exit_code ?? null, stdout_path: stdout_path ?? null, stderr_path: stderr_path ?? null }
}
