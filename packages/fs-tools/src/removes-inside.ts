import { type ToolError, type Touches, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** For contracts that take a link which leads out for an escape, although only the link itself would go. */
export const removesInside = Effect.fnUntraced(function* (
  ...paths: ReadonlyArray<string>
): Effect.fn.Return<Touches, ToolError, Workspace> {
  const workspace = yield* Workspace
  for (const path of paths) yield* workspace.contain(path)
  return { removes: paths }
})
