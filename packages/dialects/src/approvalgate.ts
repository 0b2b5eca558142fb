import { defineDialect, type Dialect, type ErrorCode } from "@haft/core"

import { inWords } from "./in-words.ts"

const errorNames = {
  invalid_params: "INVALID_PARAMS",
  unknown_tool: "UNKNOWN_TOOL",
  approval_denied: "APPROVAL_DENIED",
  cancelled: "CANCELLED",
  timeout: "TIMEOUT",
  internal_error: "INTERNAL_ERROR",
  journal_unavailable: "JOURNAL_UNAVAILABLE",
  out_of_resources: "OUT_OF_RESOURCES",
  unknown_outcome: "UNKNOWN_OUTCOME",
  cluster_unavailable: "CLUSTER_UNAVAILABLE",
  path_outside_workspace: "INVALID_PATH",
  symlink_blocked: "INVALID_PATH",
  file_not_found: "FILE_NOT_FOUND",
  is_directory: "IS_DIRECTORY",
  not_a_directory: "NOT_A_DIRECTORY",
  not_a_regular_file: "NOT_A_REGULAR_FILE",
  already_exists: "ALREADY_EXISTS",
  permission_denied: "PERMISSION_DENIED",
  secret_path: "SECRET_PATH",
  read_only_root: "READ_ONLY_ROOT",
  write_failed: "WRITE_FAILED",
  binary_file: "BINARY_FILE",
  invalid_range: "INVALID_RANGE",
  file_too_large: "FILE_TOO_LARGE",
  stale_file: "STALE_FILE",
  match_not_found: "MATCH_NOT_FOUND",
  match_not_unique: "MATCH_NOT_UNIQUE",
  patch_parse_error: "PATCH_PARSE_ERROR",
  patch_hunk_failed: "PATCH_HUNK_FAILED",
  already_applied: "ALREADY_APPLIED",
  no_history: "NO_HISTORY",
  invalid_pattern: "INVALID_PATTERN",
  search_unavailable: "SEARCH_UNAVAILABLE",
  search_failed: "SEARCH_FAILED",
  command_failed: "EXECUTION_ERROR",
  command_not_found: "EXECUTION_ERROR",
  sandbox_unavailable: "EXECUTION_ERROR",
  sandbox_error: "EXECUTION_ERROR",
  terminal_unavailable: "TERMINAL_UNAVAILABLE",
  session_not_found: "SESSION_NOT_FOUND",
  session_ended: "SESSION_ENDED",
  session_exists: "SESSION_EXISTS",
  session_limit: "SESSION_LIMIT",
  branch_in_use: "BRANCH_IN_USE",
  invalid_url: "INVALID_URL",
  url_blocked: "URL_BLOCKED",
  network_error: "NETWORK_ERROR",
  response_too_large: "RESPONSE_TOO_LARGE",
  search_provider_missing: "SEARCH_PROVIDER_MISSING",
  search_provider_failed: "SEARCH_PROVIDER_FAILED"
} satisfies Record<ErrorCode, string>

/** The approvalgate contract: `{ ok: true, value }` or `{ ok: false, error }`, codes in capitals. */
export const approvalgate: Dialect<"approvalgate"> = defineDialect({
  name: "approvalgate",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  errorNames,
  success: ({ output }) => ({ ok: true, value: output }),
  failure: ({ error, errorName }) => ({
    ok: false,
    error: {
      code: errorName,
      message: inWords(error),
      ...(error.details !== undefined && { details: error.details })
    }
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      ok: { type: "boolean" },
      value: output,
      error: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" }, details: { type: "object" } },
        required: ["code", "message"]
      }
    },
    required: ["ok"]
  })
})
