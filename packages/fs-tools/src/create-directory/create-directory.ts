import type { ChangePlan, PlanError } from "@haft/core"
import * as Effect from "effect/Effect"

export interface CreatedDirectory {
  readonly path: string
  /** Every directory that is made, the outermost first; none when it was there already. */
  readonly created: ReadonlyArray<string>
}

/** Plans a directory and those on the way to it. One that is there already is fine. */
export const planDirectory = Effect.fnUntraced(function* (
  plan: ChangePlan,
  { path }: { readonly path: string }
): Effect.fn.Return<CreatedDirectory, PlanError> {
  yield* plan.makeDirectory(path)
  const found = yield* plan.info(path)
  return { path: found?.path ?? path, created: plan.changes.map((change) => change.path) }
})
