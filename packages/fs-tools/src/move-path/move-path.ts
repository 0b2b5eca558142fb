import { type CommitError, toolError, type ToolError, Workspace, singleLine } from "@haft/core"
import * as Effect from "effect/Effect"

export interface MoveOptions {
  readonly from: string
  readonly to: string
  /** Take the place of a file that is there. */
  readonly overwrite: boolean
  /** Make the directories on the way. */
  readonly createDirectories: boolean
}

/** Moves or renames a file, a link or a directory. */
export const movePath = Effect.fnUntraced(function* (
  options: MoveOptions
): Effect.fn.Return<{ from: string; to: string }, CommitError | ToolError<"invalid_params">, Workspace> {
  const workspace = yield* Workspace
  const places = yield* requireMovable(options)
  yield* workspace.commit([{ kind: "move", ...options }])
  return places
})

/** What would move, in git's words. Fails where moving would. */
export const previewMove = Effect.fnUntraced(function* (
  options: MoveOptions
): Effect.fn.Return<string, CommitError | ToolError<"invalid_params">, Workspace> {
  const workspace = yield* Workspace
  const { from, to } = yield* requireMovable(options)
  yield* workspace.previewCommit([{ kind: "move", ...options }])
  const isTaken = yield* Effect.isSuccess(workspace.info(options.to, { follow: false }))
  return `rename from ${singleLine(from)}\nrename to ${singleLine(to)}\n${isTaken && options.overwrite ? `overwritten ${singleLine(to)}\n` : ""}`
})

const requireMovable = Effect.fnUntraced(function* (
  options: MoveOptions
): Effect.fn.Return<{ from: string; to: string }, CommitError | ToolError<"invalid_params">, Workspace> {
  const workspace = yield* Workspace
  const { path: from } = yield* workspace.info(options.from, { follow: false })
  const to = yield* lastNameUnresolved(options.to)
  if (from === "." || to === ".") {
    return yield* toolError("path_outside_workspace", "the workspace itself can't be moved or replaced", {
      suggestion: "Move what is in it, by name.",
      details: { path: from === "." ? options.from : options.to }
    })
  }
  if (to.startsWith(`${from}/`)) {
    return yield* toolError("invalid_params", `${options.from} can't be moved into itself`, {
      suggestion: "Choose a place outside it.",
      details: { path: options.to }
    })
  }
  return { from, to }
})

/** Where a path lands; a link at its end stands for itself, because moving never goes through it. */
const lastNameUnresolved = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  return yield* workspace.info(path, { follow: false }).pipe(
    Effect.map((info) => info.path),
    Effect.catchIf(
      (error) => error.code === "file_not_found",
      () => workspace.contain(path)
    )
  )
})
