import { defineDialect, type Dialect, type Failure, type JsonSchema, singleLine } from "@haft/core"

/** The release of the `openai` package whose tools are followed. */
export const followedRelease = "7.55.0"

/**
 * The contract of the local tools of OpenAI's Responses API: an answer has the fields of the output item that goes back to
 * the model. A patch that failed says so in `status`; a call of `shell` that did not run is a command that failed.
 */
export const openai: Dialect<"openai"> = defineDialect({
  name: "openai",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  success: ({ output, isForeign, text }) => (isForeign ? { output: text } : output),
  failure: (failure) => {
    const text = failureText(failure)
    if (failure.call.tool === "shell") {
      return { output: [{ stdout: "", stderr: text, outcome: { type: "exit", exit_code: notRun } }] }
    }
    return { status: "failed", output: text }
  },
  failureText: (failure) => failureText(failure),
  envelope: ({ properties }) => {
    const { output, ...others } = properties as Readonly<Record<string, JsonSchema | undefined>>
    const status = { type: "string", enum: ["completed", "failed"] }
    // A failure, and the answer of a tool of another dialect, is a text.
    const text = { type: "string" }
    return {
      type: "object",
      properties: { ...others, status, output: output === undefined ? text : { anyOf: [output, text] } }
    }
  }
})

/** Exit code of a command that could not be run, as shells have it. */
const notRun = 126

const failureText = ({ error }: Failure): string => {
  const message = error.message.split("\n").map(singleLine).join("\n  ")
  return error.suggestion === undefined ? message : `${message}\n${error.suggestion}`
}
