import { type FileInfo, type LookError, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** For contracts whose `path` is a directory and nothing else. */
export const requireDirectory = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<FileInfo, LookError | ToolError<"not_a_directory">, Workspace> {
  const workspace = yield* Workspace
  const info = yield* workspace.info(path)
  if (info.kind === "directory") return info
  return yield* toolError("not_a_directory", `${path} is not a directory`, {
    suggestion: "Give the directory, and the file's name as a glob.",
    details: { path }
  })
})
