import {
  type ToolError,
  toolError,
  type UndoPreview,
  type UndoReport,
  Workspace,
  type UndoTarget as WorkspaceTarget,
  singleLine
} from "@haft/core"
import * as Effect from "effect/Effect"

import { TextFile } from "../text-file.ts"
import { unifiedDiff } from "../unified-diff.ts"

/** What to take back: one call, every call of a run, or the last call that changed something. */
export interface UndoTarget {
  readonly call?: string | undefined
  readonly run?: string | undefined
}

export type UndoError = ToolError<"invalid_params" | "no_history" | "stale_file" | "write_failed">

/** Takes changes back, unless a file has changed since. */
export const undo = Effect.fnUntraced(function* (
  target: UndoTarget
): Effect.fn.Return<UndoReport, UndoError, Workspace> {
  const workspace = yield* Workspace
  return yield* workspace.undo(yield* targetOf(target))
})

/** Every path that an undo would change. Fails where one has changed since, so that nobody is asked in vain. */
export const undonePaths = (target: UndoTarget): Effect.Effect<ReadonlyArray<string>, UndoError, Workspace> =>
  Effect.map(planned(target), ({ paths }) => paths)

/** What an undo would change, file by file, from how the workspace is to how it would be. */
export const previewUndo = Effect.fnUntraced(function* (
  target: UndoTarget
): Effect.fn.Return<string, UndoError, Workspace> {
  const { changes, lost = [] } = yield* planned(target)
  // Newest first: what stands here at the end is how the file will be.
  const results = new Map<string, Result>()
  for (const change of changes) {
    if (change.becomes === "moved") {
      results.set(change.movedTo, results.get(change.path) ?? (yield* now(change.path)))
      results.set(change.path, "absent")
    } else if (change.becomes === "file") {
      results.set(change.path, (change.content && TextFile.decode(change.content)) ?? "other content")
    } else results.set(change.path, change.becomes)
  }
  let diff = lost.map((path) => `not restored ${singleLine(path)}\n`).join("")
  for (const [path, after] of results) diff += describe(path, yield* now(path), after)
  return diff
})

type Result = TextFile | "other content" | "directory" | "symlink" | "absent"

const planned = Effect.fnUntraced(function* (target: UndoTarget): Effect.fn.Return<UndoPreview, UndoError, Workspace> {
  const workspace = yield* Workspace
  return yield* workspace.previewUndo(yield* targetOf(target))
})

const targetOf = ({
  call,
  run
}: UndoTarget): Effect.Effect<WorkspaceTarget | undefined, ToolError<"invalid_params">> => {
  if (call !== undefined && run !== undefined) {
    return toolError("invalid_params", "parameters 'call' and 'run' exclude each other", {
      suggestion: "Name one of them, or none for the last call."
    })
  }
  if (call !== undefined) return Effect.succeed({ call })
  return Effect.succeed(run === undefined ? undefined : { run })
}

const shownBytes = 1024 * 1024

/** What is at a path now, as far as it can be shown. */
const now = (path: string): Effect.Effect<Result, never, Workspace> =>
  Workspace.use((workspace) => workspace.read(path, { maxBytes: shownBytes })).pipe(
    Effect.map((bytes): Result => TextFile.decode(bytes) ?? "other content"),
    Effect.catch(({ code }) => Effect.succeed(unreadable[code] ?? "other content"))
  )

const unreadable: Readonly<Record<string, Result>> = {
  file_not_found: "absent",
  is_directory: "directory",
  symlink_blocked: "symlink"
}

const describe = (path: string, before: Result, after: Result): string => {
  const isShown = (result: Result) => result instanceof TextFile || result === "absent"
  if (!isShown(before) || !isShown(after)) {
    if (before === after && before !== "other content") return ""
    return after === "absent" ? `deleted ${singleLine(path)}\n` : `restored ${singleLine(path)}\n`
  }
  return unifiedDiff({
    oldPath: before === "absent" ? undefined : path,
    newPath: after === "absent" ? undefined : path,
    before: before instanceof TextFile ? before : undefined,
    after: after instanceof TextFile ? after : undefined
  })
}
