import { type ContainError, type Touches, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** For contracts that refuse a link which leads outside, even where only the link itself would be deleted or moved. */
export const insideOnly = Effect.fnUntraced(function* (
  touches: Touches
): Effect.fn.Return<Touches, ContainError, Workspace> {
  const workspace = yield* Workspace
  for (const path of touches.removes ?? []) yield* workspace.contain(path)
  return touches
})
