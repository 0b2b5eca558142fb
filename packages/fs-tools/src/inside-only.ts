import { type ToolError, type Touches, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** For contracts that take a link which leads out for an escape, also where only the link itself would go. */
export const insideOnly = Effect.fnUntraced(function* (
  touches: Touches
): Effect.fn.Return<Touches, ToolError, Workspace> {
  const workspace = yield* Workspace
  for (const path of touches.removes ?? []) yield* workspace.contain(path)
  return touches
})
