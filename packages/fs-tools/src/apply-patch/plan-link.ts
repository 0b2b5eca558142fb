import { type ChangePlan, CurrentCall, type PlanError, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { requireNothing } from "../planned-text.ts"
import { targetOf } from "./parse/patch-path.ts"
import type { Hunk } from "./patch.ts"

export type LinkError = PlanError | ToolError<"patch_hunk_failed" | "already_applied">

/** Plans a symbolic link where nothing is. A workspace that follows no links does not get new ones either. */
export const planLink = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  target: string
): Effect.fn.Return<void, LinkError> {
  const { symlinks } = yield* CurrentCall
  yield* symlinks === "deny"
    ? toolError(
        "symlink_blocked",
        `${path} is a symbolic link in the patch, and links are not allowed here; nothing was changed`,
        { suggestion: "Leave the link out of the patch, or add a file instead.", details: { path } }
      )
    : requireNothing(plan, path)
  const parent = path.split("/").slice(0, -1).join("/")
  if (parent !== "") yield* plan.makeDirectory(parent)
  yield* plan.symlink(path, target)
})

/** Plans that a symbolic link leads to the target that its hunks add. */
export const retarget = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  hunks: ReadonlyArray<Hunk>
): Effect.fn.Return<void, LinkError> {
  yield* requireLink(plan, path, hunks)
  yield* plan.remove(path)
  yield* planLink(plan, path, targetIn(hunks, "+") ?? "")
})

/** Fails unless a path is a symbolic link with the target that the hunks remove, where there are any. */
export const requireLink = (
  plan: ChangePlan,
  path: string,
  hunks: ReadonlyArray<Hunk>
): Effect.Effect<void, LinkError> =>
  Effect.flatMap(plan.info(path, { follow: false }), (found): Effect.Effect<void, LinkError> => {
    const expected = targetIn(hunks, "-")
    const target = found?.kind === "symlink" ? (found.target ?? "") : undefined
    if (target !== undefined && (hunks.length === 0 || target === expected)) return Effect.void
    const is = target === undefined ? "not a symbolic link" : `a symbolic link to ${target}`
    if (target !== undefined && target === targetIn(hunks, "+")) {
      return toolError("already_applied", `${path} is ${is} already; nothing was changed`, {
        suggestion: "Leave the link out of the patch.",
        details: { path }
      })
    }
    const wanted = expected === undefined ? "a link" : `a link to ${expected}`
    return toolError("patch_hunk_failed", `${path} is ${is}, but the patch expects ${wanted}; nothing was changed`, {
      suggestion: "Rebuild the patch from the link as it is now.",
      details: { path }
    })
  })

const targetIn = (hunks: ReadonlyArray<Hunk>, sign: "-" | "+"): string | undefined =>
  targetOf(
    hunks.flatMap(({ lines }) => lines),
    sign
  )
