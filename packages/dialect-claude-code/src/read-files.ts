import { type ToolError, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { worded } from "./worded.ts"

/** The fingerprints of files as calls have seen them, by workspace and path. */
const seen = new WeakMap<WorkspaceService, Map<string, string>>()

/** Remembers the state of a file that a call has read or written. */
export const rememberFile = (path: string, fingerprint: string): Effect.Effect<void, never, Workspace> =>
  Workspace.useSync((workspace) => {
    const files = seen.get(workspace) ?? new Map<string, string>()
    files.set(path, fingerprint)
    seen.set(workspace, files)
  })

/** The state that a file had when it was last seen. Fails for a file that is there and was never read. */
export const lastSeen = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<string | undefined, ToolError<"stale_file">, Workspace> {
  const workspace = yield* Workspace
  const found = yield* Effect.result(workspace.info(path))
  if (found._tag === "Failure" || found.success.kind !== "file") return undefined
  const fingerprint = seen.get(workspace)?.get(found.success.path)
  if (fingerprint !== undefined) return fingerprint
  return yield* worded("stale_file", "File has not been read yet. Read it first before writing to it.")
})

/** Words a file that has changed since it was read. */
export const inStaleWords = <Code extends ToolError["code"]>(error: ToolError<Code>): ToolError<Code> =>
  error.code === "stale_file" && error.details?.["worded"] !== true
    ? worded(
        error.code,
        "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
      )
    : error
