import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * Every way a call can fail, in one closed list. A dialect may give a code another name.
 */
export const errorCodes = [
  // the call itself
  "invalid_params",
  "unknown_tool",
  "approval_denied",
  "cancelled",
  "timeout",
  "internal_error",
  "journal_unavailable",
  "out_of_resources",
  "unknown_outcome",
  "cluster_unavailable",
  // paths and files
  "path_outside_workspace",
  "symlink_blocked",
  "file_not_found",
  "is_directory",
  "not_a_directory",
  "not_a_regular_file",
  "already_exists",
  "permission_denied",
  "secret_path",
  "read_only_root",
  "write_failed",
  "binary_file",
  "invalid_range",
  "file_too_large",
  "stale_file",
  // edits and patches
  "match_not_found",
  "match_not_unique",
  "patch_parse_error",
  "patch_hunk_failed",
  "already_applied",
  "no_history",
  // search
  "invalid_pattern",
  "search_unavailable",
  "search_failed",
  // commands and terminals
  "command_failed",
  "command_not_found",
  "sandbox_unavailable",
  "sandbox_error",
  "terminal_unavailable",
  "session_not_found",
  "session_ended",
  "session_exists",
  "session_limit",
  "branch_in_use",
  // web
  "invalid_url",
  "url_blocked",
  "network_error",
  "response_too_large",
  "search_provider_missing",
  "search_provider_failed"
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** Optional fields of a failure besides its code and message. */
export interface ToolErrorOptions {
  /** Advice for the caller. */
  readonly suggestion?: string
  /** Facts about the failure, safe to show: never a stack trace, never a path outside the workspace. */
  readonly details?: Readonly<Record<string, unknown>>
  /** True when the same call may succeed later without any change. */
  readonly retryable?: boolean
  /** Partial result, in the shape of the tool's output. */
  readonly output?: unknown
}

interface ToolErrorFields extends ToolErrorOptions {
  readonly code: ErrorCode
  readonly message: string
}

/** A failure the caller can act on. Anything else that goes wrong is a defect. */
export class ToolError<out Code extends ErrorCode = ErrorCode> extends Data.TaggedError("ToolError")<ToolErrorFields> {
  declare readonly code: Code
}

/** Fails with a {@link ToolError}: `return yield* toolError("file_not_found", "a.txt does not exist")`. */
export const toolError = <const Code extends ErrorCode>(
  code: Code,
  message: string,
  options: ToolErrorOptions = {}
): Effect.Effect<never, ToolError<Code>> => Effect.fail(makeToolError(code, message, options))

/** The error as a value, for code that is not an Effect. */
export const makeToolError = <const Code extends ErrorCode>(
  code: Code,
  message: string,
  options: ToolErrorOptions = {}
): ToolError<Code> => new ToolError({ code, message, ...options }) as ToolError<Code>

/** Copy of a failure with another message. */
export const withMessage = (error: ToolError, message: string): ToolError => {
  const { code, suggestion, details, retryable, output } = error
  return makeToolError(code, message, {
    ...(suggestion !== undefined && { suggestion }),
    ...(details !== undefined && { details }),
    ...(retryable !== undefined && { retryable }),
    ...(output !== undefined && { output })
  })
}

/** True for errors of this class, also when they come from another copy of this package. */
export const isToolError = (value: unknown): value is ToolError =>
  value instanceof Error && "_tag" in value && value._tag === "ToolError" && "code" in value
