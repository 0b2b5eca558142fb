import { defineDialect, type Dialect, type ErrorCode } from "@haft/core"

import { inWords } from "./in-words.ts"

const errorNames = {
  invalid_params: "invalid_params",
  unknown_tool: "unknown_tool",
  approval_denied: "approval_denied",
  cancelled: "cancelled",
  timeout: "timeout",
  internal_error: "internal_error",
  journal_unavailable: "journal_unavailable",
  out_of_resources: "out_of_resources",
  unknown_outcome: "unknown_outcome",
  cluster_unavailable: "cluster_unavailable",
  path_outside_workspace: "path_escape",
  symlink_blocked: "symlink_blocked",
  file_not_found: "file_not_found",
  is_directory: "is_directory",
  not_a_directory: "not_a_directory",
  not_a_regular_file: "not_a_regular_file",
  already_exists: "already_exists",
  permission_denied: "permission_denied",
  secret_path: "secret_path",
  read_only_root: "read_only_root",
  write_failed: "write_failed",
  binary_file: "binary_file",
  invalid_range: "invalid_range",
  file_too_large: "file_too_large",
  stale_file: "stale_file",
  match_not_found: "match_not_found",
  match_not_unique: "match_not_unique",
  patch_parse_error: "patch_parse_error",
  patch_hunk_failed: "patch_hunk_fail",
  already_applied: "patch_hunk_fail",
  no_history: "no_history",
  invalid_pattern: "ripgrep_error",
  search_unavailable: "ripgrep_unavailable",
  search_failed: "ripgrep_error",
  command_failed: "abnormal_exit",
  command_not_found: "abnormal_exit",
  sandbox_unavailable: "sandbox_error",
  sandbox_error: "sandbox_error",
  terminal_unavailable: "terminal_unavailable",
  session_not_found: "session_not_found",
  session_ended: "session_ended",
  session_exists: "session_exists",
  session_limit: "session_limit",
  branch_in_use: "branch_in_use",
  invalid_url: "invalid_url",
  url_blocked: "url_blocked",
  network_error: "network_error",
  response_too_large: "response_too_large",
  search_provider_missing: "search_provider_missing",
  search_provider_failed: "search_provider_failed"
} satisfies Record<ErrorCode, string>

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
