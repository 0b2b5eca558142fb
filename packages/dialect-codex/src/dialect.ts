import {
  defineDialect,
  type Dialect,
  type ErrorCode,
  type Failure,
  makeToolError,
  singleLine,
  type ToolError
} from "@haft/core"

/** The release of Codex that the tools follow. */
export const followedRelease = "0.169.0"

/** The contract of Codex's own tools: a text for the model, and the fields of a command's output schema. */
export const codex: Dialect<"codex"> = defineDialect({
  name: "codex",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  success: ({ output }) => output,
  failure: (failure) => ({ error: failureText(failure) }),
  failureText: (failure) => failureText(failure),
  envelope: ({ properties }) => ({
    type: "object",
    properties: { ...(properties as object | undefined), error: { type: "string" } }
  })
})

/** A failure in Codex's own words, which are handed out as they are. */
export const worded = <Code extends ErrorCode>(code: Code, message: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true } })

const failureText = ({ error }: Failure): string => {
  if (error.details?.["worded"] === true) return error.message
  const message = error.message.split("\n").map(singleLine).join("\n  ")
  return error.suggestion === undefined ? message : `${message}\n${error.suggestion}`
}
