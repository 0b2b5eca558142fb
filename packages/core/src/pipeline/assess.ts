import * as Effect from "effect/Effect"

import { isProtectedPath } from "../control-files.ts"
import { type ContainError, Workspace, type WorkspaceService } from "../services/workspace.ts"
import type { ErrorCode } from "../tool-error.ts"
import type { PreparedCall, Tool } from "../tool.ts"
import type { Facts, WrittenPath } from "../touches.ts"
import { CurrentCall } from "./call.ts"

/** What a call is about to touch: every path contained, every target looked at, the risk settled. */
export const assess = Effect.fnUntraced(function* <R, Code extends ErrorCode>(
  tool: Pick<Tool<R>, "risk">,
  prepared: PreparedCall<R, Code>
) {
  const touches = yield* prepared.touches
  const workspace = yield* Workspace
  const reads: Array<string> = []
  for (const path of touches.reads ?? []) reads.push(yield* workspace.contain(path))
  const writes: Array<WrittenPath> = []
  const seen = new Set<string>()
  const add = ({ path, exists }: Target): void => {
    if (seen.has(path)) return
    seen.add(path)
    writes.push({ path, exists, isProtected: isProtectedPath(path) })
  }
  for (const given of touches.writes ?? []) add(yield* targetOf(workspace, given, { follow: true }))
  for (const given of touches.removes ?? []) add(yield* removedTarget(workspace, given))
  const { runs, network, fetches, types } = touches
  const facts: Facts = {
    reads,
    writes,
    ...(runs !== undefined && { runs }),
    ...(network === true && { network }),
    ...(fetches !== undefined && { fetches }),
    ...(types !== undefined && { types }),
    risk: writes.some(({ isProtected }) => isProtected) ? "dangerous" : tool.risk
  }
  return facts
})

type Target = Pick<WrittenPath, "path" | "exists">

/** Where a path leads, and whether something is there. Without `follow` a link counts as itself, wherever it leads. */
const targetOf = (
  workspace: WorkspaceService,
  given: string,
  { follow }: { readonly follow: boolean }
): Effect.Effect<Target, ContainError> =>
  workspace.info(given, { follow }).pipe(
    Effect.map(({ path }) => ({ path, exists: true })),
    // Missing, or there without permission to look. A path that leads outside fails here too.
    Effect.catch(({ code }) =>
      Effect.map(workspace.contain(given), (path) => ({ path, exists: code !== "file_not_found" }))
    )
  )

/** The same for a path that is removed itself. Where links are denied they are not removed either, so they are refused. */
const removedTarget = Effect.fnUntraced(function* (
  workspace: WorkspaceService,
  given: string
): Effect.fn.Return<Target, ContainError> {
  const { symlinks } = yield* CurrentCall
  if (symlinks === "deny") yield* workspace.contain(given)
  return yield* targetOf(workspace, given, { follow: false })
})
