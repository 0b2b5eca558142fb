import {
  isToolError,
  makeToolError,
  type ToolError,
  type UndoneChange,
  type UndoPreview,
  type UndoReport,
  type UndoTarget
} from "@haft/core"

import { commitChanges, type CommitRequest, type CommitSettings } from "../commit/commit.ts"
import { planChanges, type PlannedChange } from "../commit/plan.ts"
import { type Content, openView } from "../commit/planned-tree.ts"
import type { Pause } from "../commit/stage.ts"
import type { Root } from "../paths/containment.ts"
import type { Entry, Recorded } from "./history-log.ts"
import type { History } from "./history.ts"

type What = UndoTarget | undefined

/** Takes calls back, as one commit, unless a file has changed since. */
export function* undoCalls(
  settings: CommitSettings,
  request: Omit<CommitRequest, "changes" | "exact">,
  what: What
): Generator<Pause, UndoReport> {
  const { changes, undoes, report } = planUndo(settings.history, what)
  try {
    const made = yield* commitChanges(settings, { ...request, changes, undoes, exact: true })
    // Not all that the report names: a directory that somebody else put something into stays.
    const changed = new Set(made.flatMap(({ path, movedTo = path }) => [path, movedTo]))
    return { ...report, paths: report.paths.filter((path) => changed.has(path)) }
  } catch (error) {
    const failure = asUndoError(error)
    const changed = failure.code === "stale_file" ? yield* changedSince(settings.root, changes) : []
    throw changed.length > 0 ? changedError(changed) : failure
  }
}

interface UndoPlan {
  readonly changes: ReadonlyArray<PlannedChange>
  /** The entries that go, by id. */
  readonly undoes: ReadonlyArray<string>
  readonly report: UndoReport
}

/** The changes that take calls back, the newest first, each only if nothing has changed since. */
const planUndo = (history: History, what: What): UndoPlan => {
  const entries = select(history.entries(), what).toReversed()
  const large = entries.find(({ tooLarge }) => tooLarge === true)
  if (large !== undefined) {
    throw makeToolError("no_history", `what call ${large.call} replaced was too large to keep, so it can't be undone`, {
      suggestion: "Bring it back from version control or a copy.",
      details: { call: large.call }
    })
  }
  const all = entries.flatMap(({ did }) => did.toReversed())
  const recorded = all.filter((one) => !isLost(one))
  const lost = all.filter(isLost).map(({ path }) => path)
  if (recorded.length === 0 && lost[0] !== undefined) throw notAFile(lost[0])
  return {
    changes: recorded.map((one) => inverse(history, one)),
    undoes: entries.map(({ id }) => id),
    report: {
      calls: [...new Set(entries.map(({ call }) => call))],
      paths: [...new Set(recorded.flatMap((one) => (one.did === "move" ? [one.from, one.to] : [one.path])))],
      ...(lost.length > 0 && { lost })
    }
  }
}

/** The same for somebody who wants to see it first. Fails where the undo itself would. */
export function* previewUndo(root: Root, history: History, what: What): Generator<void, UndoPreview> {
  const { changes, report } = planUndo(history, what)
  const changed = yield* changedSince(root, changes)
  if (changed.length > 0) throw changedError(changed)
  return { ...report, changes: changes.map(shown) }
}

/** The paths that stand in the way of going back, because somebody changed them since. */
function* changedSince(root: Root, changes: ReadonlyArray<PlannedChange>): Generator<void, ReadonlyArray<string>> {
  const view = openView(root, "deny")
  const options = { symlinks: "deny", exact: true, keep: () => {} } as const
  const changed = new Set<string>()
  for (const change of changes) {
    try {
      yield* planChanges(view, [change], options)
    } catch (error) {
      const failure = asUndoError(error)
      if (failure.code !== "stale_file") throw failure
      changed.add(String(failure.details?.["path"]))
    }
  }
  return [...changed].toSorted()
}

const shownBytes = 1024 * 1024

const shown = (change: PlannedChange): UndoneChange => {
  if (change.kind === "move") return { becomes: "moved", path: change.from, movedTo: change.to }
  if (change.kind === "write") {
    const content = contentUpTo(change.content, shownBytes)
    return { becomes: "file", path: change.path, ...(content !== undefined && { content }) }
  }
  return { becomes: becoming[change.kind], path: change.path }
}

const becoming = {
  restore_link: "symlink",
  restore_directory: "directory",
  create_directory: "directory",
  delete: "absent",
  remove_if_empty: "absent"
} as const

const contentUpTo = (content: Content, maximum: number): Uint8Array | undefined => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for (const piece of content) {
    size += piece.length
    if (size > maximum) return undefined
    // A piece is only valid until the next one is asked for.
    pieces.push(Uint8Array.from(piece))
  }
  return Buffer.concat(pieces)
}

/** Whatever stands in the way of going back is a file that changed since, and is called that. */
const asUndoError = (error: unknown): ToolError => {
  if (!isToolError(error)) throw error
  if (error.code === "no_history" || error.code === "write_failed") return error
  return changedError([typeof error.details?.["path"] === "string" ? error.details["path"] : "a file"])
}

const maximumNamed = 20

const changedError = (paths: ReadonlyArray<string>): ToolError<"stale_file"> => {
  const named = paths.slice(0, maximumNamed).join(", ") + (paths.length > maximumNamed ? ", …" : "")
  const what =
    paths.length === 1
      ? "has changed since, so going back would lose that change"
      : "have changed since, so going back would lose those changes"
  return makeToolError("stale_file", `${named} ${what}; nothing was undone`, {
    suggestion: "Undo what was done after it first, or change the files by hand.",
    details: { path: paths[0] ?? "", paths: [...paths] }
  })
}

const select = (entries: ReadonlyArray<Entry>, what: What): ReadonlyArray<Entry> => {
  const standing = withoutTakenBack(entries)
  if (what !== undefined && "call" in what) {
    const run = entries.findLast(({ call }) => call === what.call)?.run
    if (run === undefined) throw nothing(`there is no call ${what.call} that changed files`)
    const found = standing.filter((entry) => entry.call === what.call && entry.run === run)
    if (found.length === 0) throw nothing(`call ${what.call} is undone already`)
    return found
  }
  const own = standing.filter(({ undoes }) => undoes === undefined)
  if (what !== undefined) {
    const found = own.filter(({ run }) => run === what.run)
    if (found.length === 0) throw nothing(`run ${what.run} has changed no files, or all of it is undone`)
    return found
  }
  const last = own.at(-1)
  if (last === undefined) throw nothing("there is nothing to undo")
  return own.filter(({ call, run }) => call === last.call && run === last.run)
}

/** Entries whose effect stands: an undo that was itself undone counts for nothing. */
const withoutTakenBack = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const takenBack = new Set<string>()
  for (const entry of entries.toReversed()) {
    if (!takenBack.has(entry.id)) for (const id of entry.undoes ?? []) takenBack.add(id)
  }
  return entries.filter(({ id }) => !takenBack.has(id))
}

const inverse = (history: History, one: Recorded): PlannedChange => {
  const { did } = one
  if (did === "make_directory") return { kind: "remove_if_empty", path: one.path }
  if (did === "move") return { kind: "move", from: one.to, to: one.from, base: one.state }
  if (did === "write") {
    const { path, after, before, changedMode } = one
    if (before === null) return { kind: "delete", path, base: after }
    const content = history.content(before.state)
    return { kind: "write", path, base: after, content, ...(changedMode === true && { mode: before.mode }) }
  }
  const { path, state, mode, target, owner } = one
  if (target !== undefined) return { kind: "restore_link", path, target }
  if (state === "directory") return { kind: "restore_directory", path, mode }
  return { kind: "write", path, base: "absent", content: history.content(state), mode, ...(owner && { owner }) }
}

/** Pipes, sockets and devices are not kept: what they hold is not on the disk. */
const isLost = (one: Recorded): one is Extract<Recorded, { did: "delete" }> =>
  one.did === "delete" && one.target === undefined && one.state !== "directory" && !one.state.startsWith("sha256:")

const notAFile = (path: string): ToolError<"no_history"> =>
  makeToolError(
    "no_history",
    `${path} was a pipe, a socket or a device, which can't be brought back; nothing was changed`,
    {
      suggestion: "Make it again with the program that it belongs to.",
      details: { path }
    }
  )

const nothing = (message: string): ToolError<"no_history"> =>
  makeToolError("no_history", message, { suggestion: "Name another call or run, or leave both out for the last call." })
