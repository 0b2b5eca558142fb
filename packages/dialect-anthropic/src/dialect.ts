import {
  defineDialect,
  type Dialect,
  type ErrorCode,
  type Failure,
  makeToolError,
  singleLine,
  type ToolError
} from "@haft/core"
import * as z from "zod"

/** The release of `@anthropic-ai/sdk` whose tools are followed. */
export const followedRelease = "1.9.0"

/** Answer of every tool: the text of the tool result. */
export const answer = z.object({ output: z.string() })

/**
 * The contract of the client tools of Anthropic's API: `bash`, the text editor, `memory`, and the agent toolset. An answer
 * is a text; a failure is a text too, in a result that is marked as an error.
 */
export const anthropic: Dialect<"anthropic"> = defineDialect({
  name: "anthropic",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  success: ({ output, isForeign, text }) => (isForeign ? { output: text } : output),
  failure: (failure) => ({ error: failureText(failure) }),
  failureText: (failure) => failureText(failure),
  envelope: () => ({
    type: "object",
    properties: { output: { type: "string" }, error: { type: "string" } }
  })
})

/** A failure in Anthropic's own words, which are handed out as they are. */
export const worded = <Code extends ErrorCode>(code: Code, message: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true } })

/** Tools whose failures begin with "Error: "; those of the agent toolset begin with the tool's name. */
const editors: ReadonlyArray<string> = ["str_replace_based_edit_tool", "memory"]

const failureText = ({ call, error }: Failure): string => {
  const { code, message, details, suggestion } = error
  if (details?.["worded"] === true) return message
  const isEditor = editors.includes(call.tool)
  if (code === "path_outside_workspace" && !isEditor && typeof details?.["path"] === "string") {
    return `path ${JSON.stringify(details["path"])} is outside the session's working directory`
  }
  const prefix = isEditor ? "Error" : call.tool
  if (code === "invalid_params" && /^missing parameter '\w+'/.test(message)) {
    return `${prefix}: ${String(details?.["parameter"])} is required`
  }
  const words = message.split("\n").map(singleLine).join("\n  ")
  return `${prefix}: ${suggestion === undefined ? words : `${words}\n${suggestion}`}`
}
