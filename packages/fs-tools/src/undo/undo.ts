import { type ToolError, toolError, type UndoReport, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** What to take back: one call, every call of a run, or the last call that changed something. */
export interface UndoTarget {
  readonly call?: string | undefined
  readonly run?: string | undefined
}

/** Takes changes back, unless a file has changed since. */
export const undo = Effect.fnUntraced(function* ({
  call,
  run
}: UndoTarget): Effect.fn.Return<
  UndoReport,
  ToolError<"invalid_params" | "no_history" | "stale_file" | "write_failed">,
  Workspace
> {
  const workspace = yield* Workspace
  if (call !== undefined && run !== undefined) {
    return yield* toolError("invalid_params", "parameters 'call' and 'run' exclude each other", {
      suggestion: "Name one of them, or none for the last call."
    })
  }
  if (call !== undefined) return yield* workspace.undo({ call })
  return yield* run === undefined ? workspace.undo() : workspace.undo({ run })
})
