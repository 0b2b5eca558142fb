import { type ErrorCode, singleLine, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { worded } from "./dialect.ts"

/** Words failures about a file as the agent toolset does: tool, path, reason. Others keep haft's words. */
export const inFileWords =
  (tool: "read" | "write" | "edit", path: string) =>
  <A, Code extends ErrorCode, R>(
    operation: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R> =>
    Effect.mapError(operation, (error) => {
      const shown = singleLine(path)
      const isIrregular = error.code === "not_a_regular_file" || (error.code === "is_directory" && tool !== "write")
      if (isIrregular) return worded(error.code, `${tool}: ${shown} is not a regular file`)
      const reason = reasons[error.code]
      return reason === undefined ? error : worded(error.code, `${tool}: ${shown}: ${reason}`)
    })

const reasons: Partial<Record<ErrorCode, string>> = {
  file_not_found: "no such file or directory",
  permission_denied: "permission denied",
  not_a_directory: "not a directory",
  is_directory: "is a directory"
}
