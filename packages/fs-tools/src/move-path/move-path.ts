import { type ChangePlan, type PlanError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

export interface MovePathOptions {
  readonly from: string
  readonly to: string
  /** Take the place of a file that is there. */
  readonly overwrite: boolean
  /** Make the directories on the way. */
  readonly createDirectories: boolean
}

export interface MovedPath {
  readonly from: string
  readonly to: string
}

/** Plans that a file, a link or a directory gets another path. */
export const planMove = Effect.fnUntraced(function* (
  plan: ChangePlan,
  options: MovePathOptions
): Effect.fn.Return<MovedPath, PlanError> {
  const source = yield* plan.info(options.from, { follow: false })
  const target = yield* plan.info(options.to, { follow: false })
  if (source?.path === "." || target?.path === ".") {
    return yield* toolError("path_outside_workspace", "the workspace itself can't be moved or replaced", {
      suggestion: "Move what is in it, by name.",
      details: { path: source?.path === "." ? options.from : options.to }
    })
  }
  yield* plan.move(options.from, options.to, options)
  const moved = plan.changes.findLast(({ kind }) => kind === "moved")
  const from = moved?.path ?? source?.path ?? options.from
  return { from, to: moved?.movedTo ?? from }
})
