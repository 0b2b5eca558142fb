import { defineDialect, type Dialect, type ErrorCode, type ToolError } from "@haft/core"

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
  path_outside_workspace: "path_outside_working_dir",
  symlink_blocked: "path_outside_working_dir",
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
  match_not_found: "string_not_found",
  match_not_unique: "match_not_unique",
  patch_parse_error: "patch_parse_error",
  patch_hunk_failed: "patch_hunk_failed",
  already_applied: "already_applied",
  no_history: "no_history",
  invalid_pattern: "invalid_pattern",
  search_unavailable: "search_unavailable",
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

const pathOf = ({ details }: ToolError): string => (typeof details?.["path"] === "string" ? details["path"] : "")

const isOutside = (error: ToolError): string => `Path '${pathOf(error)}' is outside working directory`

/**
 * The cliagent contract: a line for people in `output`, facts in `metadata`. Its tools answer with
 * `output`, `files_affected` and `metadata`; the wording of its messages is part of the contract.
 */
export const cliagent: Dialect<"cliagent"> = defineDialect({
  name: "cliagent",
  hasHumanFormat: true,
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames,
  wording: {
    path_outside_workspace: isOutside,
    symlink_blocked: isOutside,
    file_not_found: (error) => `File '${pathOf(error)}' not found`
  },
  success: ({ output, durationMs, isForeign, text, writes }) => ({
    success: true,
    ...(isForeign ? { output: text, files_affected: writes } : pick(output, ["output", "files_affected"])),
    execution_time_ms: Math.round(durationMs),
    ...(isForeign ? { metadata: output } : pick(output, ["metadata"]))
  }),
  failure: ({ error, errorName, durationMs }) => ({
    success: false,
    output: `Error: ${error.message}`,
    files_affected: [],
    execution_time_ms: Math.round(durationMs),
    ...pick((error.output ?? {}) as Readonly<Record<string, unknown>>, ["metadata"]),
    error: { code: errorName, message: error.message, suggestion: error.suggestion ?? "" }
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      success: { type: "boolean" },
      output: { type: "string" },
      files_affected: { type: "array", items: { type: "string" } },
      execution_time_ms: { type: "integer", minimum: 0 },
      metadata: metadataOf(output),
      error: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" }, suggestion: { type: "string" } },
        required: ["code", "message", "suggestion"]
      }
    },
    required: ["success", "output", "files_affected", "execution_time_ms"]
  }),
  print: (tool, wire) => ({ tool, ...(wire as object) })
})

const pick = (output: Readonly<Record<string, unknown>>, keys: ReadonlyArray<string>) =>
  Object.fromEntries(keys.filter((key) => output[key] !== undefined).map((key) => [key, output[key]]))

// A foreign tool's whole output is its metadata; the contract's own tools name theirs.
const metadataOf = (output: Readonly<Record<string, unknown>>): object => {
  const properties = (output["properties"] ?? {}) as Record<string, object>
  return "files_affected" in properties ? (properties["metadata"] ?? { type: "object" }) : output
}
