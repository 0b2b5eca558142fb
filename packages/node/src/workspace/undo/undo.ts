import {
  type CommitError,
  makeToolError,
  type ToolError,
  type UndoPreview,
  type UndoReport,
  type UndoTarget
} from "@haft/core"
import * as Effect from "effect/Effect"

import { attempt, type ErrorWith, planCodes, undoCodes } from "../../errno.ts"
import { commitPlan, type CommitRequest, type CommitSettings, newPlan } from "../commit/commit.ts"
import type { Owner } from "../commit/owner.ts"
import type { NodePlan } from "../commit/plan.ts"
import { isFileState, nextTurn } from "../content.ts"
import { filesPerTurn, inTurns, type Work } from "../turns.ts"
import type { HistoryEntry, Recorded } from "./history-log.ts"
import type { History } from "./history.ts"

type What = UndoTarget | undefined

export type UndoError = ErrorWith<(typeof undoCodes)[number]>

/** Takes calls back, as one commit, unless a file has changed since. For whoever holds the commit lock. */
export const undoCalls = Effect.fnUntraced(function* (
  settings: CommitSettings,
  request: CommitRequest,
  what: What
): Effect.fn.Return<UndoReport, UndoError> {
  const { changes, undoes, report } = yield* inTurns(undoCodes, () => planUndo(settings.history, what))
  const undo = { ...request, undoes }
  const plan = yield* planAll(settings, changes)
  const made = yield* commitPlan(settings, plan, undo).pipe(Effect.mapError(asUndoError))
  // Not all that the report names: a directory that somebody else put something into stays.
  const changed = new Set(made.flatMap(({ path, movedTo = path }) => [path, movedTo]))
  return { ...report, paths: report.paths.filter((path) => changed.has(path)) }
})

/** Preview of an undo. Fails where the undo itself would. */
export const previewUndo = Effect.fnUntraced(function* (
  settings: CommitSettings,
  what: What
): Effect.fn.Return<UndoPreview, UndoError> {
  const { changes, report } = yield* inTurns(undoCodes, () => planUndo(settings.history, what))
  const plan = yield* planAll(settings, changes)
  return { ...report, diff: plan.diff.pipe(Effect.mapError(asUndoError)) }
})

/** Plans all changes; where somebody has changed files since, fails naming all of them. */
const planAll = Effect.fnUntraced(function* (
  settings: CommitSettings,
  changes: ReadonlyArray<Inverse>
): Effect.fn.Return<NodePlan, UndoError> {
  const plan = yield* newPlan(settings, "deny", { exact: true }).pipe(Effect.mapError(asUndoError))
  const changed = new Set<string>()
  for (const [at, change] of changes.entries()) {
    if (at % filesPerTurn === filesPerTurn - 1) yield* nextTurn
    yield* planInverse(plan, change).pipe(
      Effect.mapError(asUndoError),
      Effect.catchIf(
        (error) => error.code === "stale_file",
        (error) => Effect.sync(() => void changed.add(String(error.details?.["path"])))
      )
    )
  }
  return changed.size > 0 ? yield* Effect.fail(changedError([...changed].toSorted())) : plan
})

/** A change that takes another one back. */
type Inverse =
  | {
      readonly kind: "write"
      readonly path: string
      readonly content: Iterable<Uint8Array>
      readonly fingerprint: string
      readonly size: number
      readonly base: string
      readonly mode?: number
      readonly owner?: Owner
    }
  | { readonly kind: "delete"; readonly path: string; readonly base: string }
  | { readonly kind: "move"; readonly from: string; readonly to: string; readonly base: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "directory"; readonly path: string; readonly mode: number }
  /** The permission bits of a directory. */
  | { readonly kind: "set_mode"; readonly path: string; readonly mode: number }
  /** Goes when it is empty and stays when it is not. */
  | { readonly kind: "remove_if_empty"; readonly path: string }

const planInverse = (plan: NodePlan, change: Inverse): Effect.Effect<void, CommitError> => {
  if (change.kind === "write") return attempt(planCodes, () => plan.putFile(change.path, change))
  if (change.kind === "delete") return plan.remove(change.path, change)
  if (change.kind === "move") return plan.move(change.from, change.to, change)
  if (change.kind === "link") return plan.symlink(change.path, change.target)
  if (change.kind === "directory") return plan.makeDirectory(change.path, change.mode)
  if (change.kind === "set_mode") return plan.setMode(change.path, change.mode)
  return plan.removeIfEmpty(change.path)
}

interface UndoPlan {
  readonly changes: ReadonlyArray<Inverse>
  /** The entries that go, by id. */
  readonly undoes: ReadonlyArray<string>
  readonly report: UndoReport
}

/** The changes that take calls back, the newest first, each only if nothing has changed since. */
function* planUndo(history: History, what: What): Work<UndoPlan> {
  const entries = select(history.entries(), what).toReversed()
  const large = entries.find(({ tooLarge }) => tooLarge === true)
  if (large !== undefined) {
    throw makeToolError("no_history", `what call ${large.call} replaced was too large to keep, so it can't be undone`, {
      suggestion: "Restore it from version control or a backup.",
      details: { call: large.call }
    })
  }
  const all = entries.flatMap(({ did }) => did.toReversed())
  const recorded = all.filter((one) => !isLost(one))
  const lost = all.filter(isLost).map(({ path }) => path)
  if (recorded.length === 0 && lost[0] !== undefined) throw notAFile(lost[0])
  const changes: Array<Inverse> = []
  for (const one of recorded) {
    changes.push(yield* inverse(history, one))
    yield
  }
  return {
    changes,
    undoes: entries.map(({ id }) => id),
    report: {
      calls: [...new Set(entries.map(({ call }) => call))],
      paths: [...new Set(recorded.flatMap((one) => (one.did === "move" ? [one.from, one.to] : [one.path])))],
      ...(lost.length > 0 && { lost })
    }
  }
}

/** Whatever stands in the way of going back is a file that changed since, and is called that. */
const asUndoError = (error: ToolError): UndoError => {
  if (isUndoError(error)) return error.code === "stale_file" ? changedError([pathOfError(error)]) : error
  return changedError([pathOfError(error)])
}

const isUndoError = (error: ToolError): error is UndoError => undoCodes.some((code) => code === error.code)

const pathOfError = ({ details }: ToolError): string =>
  typeof details?.["path"] === "string" ? details["path"] : "a file"

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

const select = (entries: ReadonlyArray<HistoryEntry>, what: What): ReadonlyArray<HistoryEntry> => {
  const standing = withoutTakenBack(entries)
  if (what !== undefined && "call" in what) {
    const run = entries.findLast(({ call }) => call === what.call)?.run
    if (run === undefined) throw nothing(`there is no call ${what.call} that changed files`)
    const found = standing.filter((entry) => entry.call === what.call && entry.run === run)
    if (found.length === 0) throw nothing(`call ${what.call} is undone already`)
    return found
  }
  const own = standing.filter(({ undoes }) => undoes === undefined)
  if (what !== undefined && "since" in what) {
    const found = own.filter(({ at }) => at >= what.since)
    if (found.length === 0) throw nothing(`no call has changed files since ${new Date(what.since).toISOString()}`)
    return found
  }
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
const withoutTakenBack = (entries: ReadonlyArray<HistoryEntry>): ReadonlyArray<HistoryEntry> => {
  const takenBack = new Set<string>()
  for (const entry of entries.toReversed()) {
    if (!takenBack.has(entry.id)) for (const id of entry.undoes ?? []) takenBack.add(id)
  }
  return entries.filter(({ id }) => !takenBack.has(id))
}

function* inverse(history: History, one: Recorded): Work<Inverse> {
  const { did } = one
  if (did === "set_mode") return { kind: "set_mode", path: one.path, mode: one.before }
  if (did === "make_directory") return { kind: "remove_if_empty", path: one.path }
  if (did === "move") return { kind: "move", from: one.to, to: one.from, base: one.state }
  if (did === "write") {
    const { path, after, before, changedMode } = one
    if (before === null) return { kind: "delete", path, base: after }
    const stored = yield* history.stored(before.state)
    return { kind: "write", path, base: after, ...stored, ...(changedMode === true && { mode: before.mode }) }
  }
  const { path, state, mode, target, owner } = one
  if (target !== undefined) return { kind: "link", path, target }
  if (state === "directory") return { kind: "directory", path, mode }
  return { kind: "write", path, base: "absent", ...(yield* history.stored(state)), mode, ...(owner && { owner }) }
}

/** Pipes, sockets and devices are not kept: what they hold is not on the disk. */
const isLost = (one: Recorded): one is Extract<Recorded, { did: "delete" }> =>
  one.did === "delete" && one.target === undefined && one.state !== "directory" && !isFileState(one.state)

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
