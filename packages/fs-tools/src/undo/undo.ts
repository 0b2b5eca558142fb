import {
  type ToolError,
  toolError,
  type UndoPreview,
  type UndoReport,
  Workspace,
  type UndoTarget,
  singleLine
} from "@haft/core"
import * as Effect from "effect/Effect"

/** Calls to undo: one call, every call of a run or since a time, or the last call that changed something. */
export interface UndoRequest {
  readonly call?: string | undefined
  readonly run?: string | undefined
  /** A time in ISO 8601. */
  readonly since?: string | undefined
}

export type UndoRequestError = ToolError<"invalid_params" | "no_history" | "stale_file" | "write_failed">

/** Takes changes back, unless a file has changed since. */
export const undo = Effect.fnUntraced(function* (
  target: UndoRequest
): Effect.fn.Return<UndoReport, UndoRequestError, Workspace> {
  const workspace = yield* Workspace
  return yield* workspace.undo(yield* targetOf(target))
})

/** Every path that an undo would change. Fails where one has changed since, so that nobody is asked in vain. */
export const undonePaths = (target: UndoRequest): Effect.Effect<ReadonlyArray<string>, UndoRequestError, Workspace> =>
  Effect.map(planned(target), ({ paths }) => paths)

/** Diff of an undo, from the workspace as it is to how it would be. */
export const previewUndo = (target: UndoRequest): Effect.Effect<string, UndoRequestError, Workspace> =>
  Effect.flatMap(planned(target), ({ diff, lost = [] }) =>
    Effect.map(diff, (shown) => lost.map((path) => `not restored ${singleLine(path)}\n`).join("") + shown)
  )

const planned = Effect.fnUntraced(function* (
  target: UndoRequest
): Effect.fn.Return<UndoPreview, UndoRequestError, Workspace> {
  const workspace = yield* Workspace
  return yield* workspace.previewUndo(yield* targetOf(target))
})

// Date.parse alone takes "call 3" for March 2001, and everything would be undone.
const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/

const targetOf = ({
  call,
  run,
  since
}: UndoRequest): Effect.Effect<UndoTarget | undefined, ToolError<"invalid_params">> => {
  if ([call, run, since].filter((given) => given !== undefined).length > 1) {
    return toolError("invalid_params", "parameters 'call', 'run' and 'since' exclude each other", {
      suggestion: "Name one of them, or none for the last call."
    })
  }
  if (call !== undefined) return Effect.succeed({ call })
  if (since !== undefined) {
    const time = isoTime.test(since) ? Date.parse(since) : Number.NaN
    return Number.isNaN(time)
      ? toolError("invalid_params", `parameter 'since': '${since}' is not a time`, {
          suggestion: "Give a date and time in ISO 8601, such as 2026-01-31T12:00:00Z."
        })
      : Effect.succeed({ since: time })
  }
  return Effect.succeed(run === undefined ? undefined : { run })
}
