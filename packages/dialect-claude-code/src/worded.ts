import { type ErrorCode, makeToolError, singleLine, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** A failure in Claude Code's own words, which are handed out as they are. */
export const worded = <Code extends ErrorCode>(code: Code, message: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true } })

/** End of an answer after which the model knows the whole file. */
export const isCurrent = "(file state is current in your context — no need to Read it back)"

/** Words failures about a file as Claude Code does. Others keep haft's words. */
export const inFileWords =
  (path: string) =>
  <A, Code extends ErrorCode, R>(
    operation: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R | Workspace> =>
    Workspace.use(({ root }) =>
      Effect.mapError(operation, (error) => {
        const note = `Note: your current working directory is ${singleLine(root)}.`
        if (error.code === "file_not_found") return worded(error.code, `File does not exist. ${note}`)
        if (error.code !== "is_directory") return error
        return worded(error.code, `EISDIR: illegal operation on a directory, read '${singleLine(path)}'`)
      })
    )

/** Marks failures in Claude Code's own words as it does where it refuses the request itself. */
export const refused = <Code extends ErrorCode>(error: ToolError<Code>): ToolError<Code> =>
  error.details?.["worded"] === true ? worded(error.code, `<tool_use_error>${error.message}</tool_use_error>`) : error
