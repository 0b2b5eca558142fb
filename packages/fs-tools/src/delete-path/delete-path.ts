import { type ChangedPath, type ChangePlan, type PlanError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

export interface DeleteOptions {
  readonly path: string
  /** Directories go with everything in them; without it they are refused. */
  readonly recursive: boolean
}

/** Plans that a file, a link or, when asked to, a directory goes. */
export const planDelete = Effect.fnUntraced(function* (
  plan: ChangePlan,
  { path, recursive }: DeleteOptions
): Effect.fn.Return<void, PlanError> {
  const found = yield* plan.info(path, { follow: false })
  if (found?.path === ".") {
    return yield* toolError("path_outside_workspace", "the workspace itself can't be deleted", {
      suggestion: "Delete what is in it, by name.",
      details: { path }
    })
  }
  if (found?.kind === "directory" && !recursive) {
    return yield* toolError("is_directory", `${path} is a directory; nothing was deleted`, {
      suggestion: "Ask for a recursive deletion if everything in it should go too.",
      details: { path }
    })
  }
  return yield* plan.remove(path, { recursive })
})

/** Every path that went, sorted. */
export const deletedPaths = (changes: ReadonlyArray<ChangedPath>): Array<string> =>
  changes.map(({ path }) => path).toSorted()
