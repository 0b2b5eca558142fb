import { type ErrorCode, makeToolError, singleLine, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

/** The call of the operating system that the server would have made, and the path it would have named. */
export interface SystemCall {
  readonly call: "open" | "read" | "scandir" | "stat" | "mkdir"
  readonly path: string
}

/** Words failures of an operation as Node words those of the operating system. Others keep their own words. */
export const inSystemWords =
  (attempted: SystemCall) =>
  <A, Code extends ErrorCode, R>(
    operation: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R> =>
    Effect.mapError(operation, (error) => {
      const message = systemMessage(error, attempted)
      return message === undefined ? error : worded(error.code, message)
    })

/** A failure in the server's own words, which are handed out as they are. */
export const worded = <Code extends ErrorCode>(code: Code, message: string): ToolError<Code> =>
  makeToolError(code, message, { details: { worded: true } })

/** The failure as Node words it; undefined for one that is haft's own. */
const systemMessage = (error: ToolError, { call, path }: SystemCall): string | undefined => {
  const place = `${call} '${singleLine(path)}'`
  if (error.code === "file_not_found") return `ENOENT: no such file or directory, ${place}`
  if (error.code === "is_directory") return "EISDIR: illegal operation on a directory, read"
  if (error.code === "not_a_directory") return `ENOTDIR: not a directory, ${place}`
  return error.code === "permission_denied" ? `EACCES: permission denied, ${place}` : undefined
}
