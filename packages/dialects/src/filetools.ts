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
  path_outside_workspace: "path_outside_workspace",
  symlink_blocked: "path_outside_workspace",
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
  match_not_found: "find_not_found",
  match_not_unique: "find_not_unique",
  patch_parse_error: "patch_parse_error",
  patch_hunk_failed: "patch_hunk_failed",
  already_applied: "already_applied",
  no_history: "no_history",
  invalid_pattern: "invalid_pattern",
  search_unavailable: "ripgrep_not_found",
  search_failed: "search_failed",
  command_failed: "command_failed",
  command_not_found: "command_not_found",
  sandbox_unavailable: "sandbox_unavailable",
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

/** The filetools contract: the documented object itself, or `{ error, message }`. */
export const filetools: Dialect<"filetools"> = defineDialect({
  name: "filetools",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames,
  success: ({ output }) => output,
  failure: ({ error, errorName, writes }) => ({
    // The contract knows one word for a write that did not happen, whatever the system's reason was.
    error: error.code === "permission_denied" && writes.length > 0 ? errorNames.write_failed : errorName,
    message: inWords(error)
  }),
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
  })
})
