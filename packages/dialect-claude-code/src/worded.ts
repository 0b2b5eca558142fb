import { type ErrorCode, makeToolError, singleLine, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

/** A failure in Claude Code's own words, which are handed out as they are. */
export const worded = <Code extends ErrorCode>(code: Code, message: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true } })

/** Words failures about a file as Claude Code does. Others keep haft's words. */
export const inFileWords =
  (path: string) =>
  <A, Code extends ErrorCode, R>(
    operation: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R> =>
    Effect.mapError(operation, (error) => {
      if (error.code === "file_not_found") return worded(error.code, "File does not exist.")
      if (error.code !== "is_directory") return error
      return worded(error.code, `EISDIR: illegal operation on a directory, read '${singleLine(path)}'`)
    })
