import { type CommitError, type ReadError, toolError, type ToolError, Workspace, singleLine } from "@haft/core"
import * as Effect from "effect/Effect"

import { ChangePlan, type PlanError } from "../change-plan.ts"

export interface DeleteOptions {
  /** Directories go with everything in them; without it they are refused. */
  readonly recursive: boolean
}

/** Deletes a file, a link or, when asked to, a directory, and tells every path that went. */
export const deletePath = Effect.fnUntraced(function* (
  path: string,
  { recursive }: DeleteOptions
): Effect.fn.Return<ReadonlyArray<string>, CommitError, Workspace> {
  const workspace = yield* Workspace
  yield* requireDeletable(path, { recursive })
  const changes = yield* workspace.commit([{ kind: "delete", path, recursive }])
  return changes.map((change) => change.path).toSorted()
})

/** What would go: a file as a diff, a directory as a list. */
export const previewDelete = Effect.fnUntraced(function* (
  given: string,
  options: DeleteOptions
): Effect.fn.Return<string, PlanError, Workspace> {
  const workspace = yield* Workspace
  const { path, kind } = yield* requireDeletable(given, options)
  if (kind === "symlink" || kind === "other") return `deleted ${singleLine(path)}\n`
  if (kind === "file") {
    const plan = yield* ChangePlan.make
    yield* plan.remove(given)
    return plan.diff
  }
  const gone = [`deleted ${singleLine(path)}/\n`]
  yield* workspace
    .walk(given, (entry) => {
      gone.push(`deleted ${singleLine(`${path}/${entry.path}`)}${entry.kind === "directory" ? "/" : ""}\n`)
      return "continue"
    })
    .pipe(
      Effect.catchIf(
        (error) => error.code === "not_a_directory",
        () => Effect.void
      )
    )
  return gone.join("")
})

const requireDeletable = Effect.fnUntraced(function* (
  given: string,
  { recursive }: DeleteOptions
): Effect.fn.Return<{ path: string; kind: string }, ReadError | ToolError<"is_directory">, Workspace> {
  const workspace = yield* Workspace
  const info = yield* workspace.info(given, { follow: false })
  if (info.path === ".") {
    return yield* toolError("path_outside_workspace", "the workspace itself can't be deleted", {
      suggestion: "Delete what is in it, by name.",
      details: { path: given }
    })
  }
  if (info.kind === "directory" && !recursive) {
    return yield* toolError("is_directory", `${given} is a directory; nothing was deleted`, {
      suggestion: "Ask for a recursive deletion if everything in it should go too.",
      details: { path: given }
    })
  }
  return info
})
