import { defineDialect, type Dialect, type Failure, singleLine } from "@haft/core"

/** The release of Claude Code that the tools follow. */
export const followedRelease = "2.1.326"

/**
 * The contract of Claude Code's own tools: the output types that its package publishes, and texts for the model. A
 * failure is a text; what a command printed before it failed stands beside it.
 */
export const claudeCode: Dialect<"claude-code"> = defineDialect({
  name: "claude-code",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => output,
  failure: (failure) => ({ ...(failure.error.output as object | undefined), error: failureText(failure) }),
  failureText: (failure) => failureText(failure),
  envelope: ({ properties }) => ({
    type: "object",
    properties: { ...(properties as object | undefined), error: { type: "string" } }
  })
})

/** True for a message in Claude Code's own words: it is handed out as it is. Others may quote a name with line breaks. */
const isWorded = ({ error: { details } }: Failure): boolean => details?.["worded"] === true

const failureText = (failure: Failure): string => {
  const { call, error } = failure
  const message = isWorded(failure) ? error.message : error.message.split("\n").map(singleLine).join("\n  ")
  const words = error.suggestion === undefined ? message : `${message}\n${error.suggestion}`
  if (error.code !== "invalid_params" || isWorded(failure)) return words
  return `<tool_use_error>InputValidationError: ${call.tool} failed due to the following issue:\n${words}</tool_use_error>`
}
