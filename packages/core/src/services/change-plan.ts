import * as Effect from "effect/Effect"

import type { CommitError, FileInfo, FileKind, LookError, PlanError } from "./workspace.ts"

/** Bytes to write. Pieces follow each other, so that a large file need not be put together in memory. */
export type Content = Uint8Array | ReadonlyArray<Uint8Array>

/** A regular file as a plan leaves it by now. */
export interface PlannedFile {
  /** Relative to the workspace, links resolved. */
  readonly path: string
  /** Bytes of the file. The same object is returned until the plan writes the file. */
  readonly content: Content
  readonly fingerprint: string
  /** Permission bits; the usual ones for a new file. */
  readonly mode: number
}

/** Change of one path, planned or committed. */
export interface ChangedPath {
  readonly path: string
  readonly kind: "created" | "modified" | "deleted" | "moved"
  /** Kind of entry after the change; for a deletion, before it. */
  readonly what: FileKind
  /** For `moved`: where it went. */
  readonly movedTo?: string
  /** Fingerprints; `absent` where there was or is nothing, `unread` where nobody had to know. */
  readonly before: string
  readonly after: string
  readonly bytesWritten: number
  /** Content, as far as the plan has read or been given it. That of a symbolic link is the path it stores. */
  readonly contentBefore?: Content
  readonly contentAfter?: Content
  /** Permission bits, where the plan changes them. */
  readonly modeBefore?: number
  readonly modeAfter?: number
  /** Further names of a file that keep the old content, see hard links. */
  readonly otherNames?: number
}

export interface WriteOptions {
  /** The state that the path must be in, see {@link WorkspaceService.fingerprint}. */
  readonly base?: string
  /** Permission bits; kept as they are, or the usual ones for a new file, when absent. */
  readonly mode?: number
  readonly createDirectories?: boolean
}

export interface MoveOptions {
  /** Take the place of a file that is there. */
  readonly overwrite?: boolean
  readonly createDirectories?: boolean
  readonly base?: string
}

/**
 * The workspace as it will be. Each change is planned on the result of the one before, against files that are contained,
 * read and hashed once; then all are made, or none. A plan keeps no file open, so a person may think about it for hours.
 */
export interface ChangePlan {
  /**
   * Entry at a path by now; undefined where nothing is. `follow: false` describes a link itself, `original` what was
   * there before the plan, if anything.
   */
  readonly info: (
    path: string,
    options?: { readonly follow?: boolean; readonly original?: boolean }
  ) => Effect.Effect<FileInfo | undefined, LookError>
  /** A regular file by now; with `original` as it was before the plan, where it was there. */
  readonly file: (
    path: string,
    options?: { readonly maxBytes?: number; readonly original?: boolean }
  ) => Effect.Effect<PlannedFile, PlanError>
  readonly write: (path: string, content: Content, options?: WriteOptions) => Effect.Effect<void, PlanError>
  /** Removes what has this name, a link itself too. A directory goes with everything in it, when `recursive` says so. */
  readonly remove: (
    path: string,
    options?: { readonly recursive?: boolean; readonly base?: string }
  ) => Effect.Effect<void, PlanError>
  readonly move: (from: string, to: string, options?: MoveOptions) => Effect.Effect<void, PlanError>
  /** Makes a directory and those on the way to it. One that is there is fine. */
  readonly makeDirectory: (path: string) => Effect.Effect<void, PlanError>
  readonly setMode: (path: string, mode: number) => Effect.Effect<void, PlanError>
  /** Makes a symbolic link where nothing is; `target` is stored as it is given. */
  readonly symlink: (path: string, target: string) => Effect.Effect<void, PlanError>
  /**
   * Writes a file by taking over one from a scratch directory of the host, by an absolute path outside the workspace.
   * It is renamed where both lie on one disk, and gone from the scratch directory after the commit; a commit that fails
   * leaves it there.
   */
  readonly adopt: (path: string, scratchFile: string, options?: WriteOptions) => Effect.Effect<void, PlanError>
  /** Changes planned so far, in the order of planning. */
  readonly changes: ReadonlyArray<ChangedPath>
  /** False where the content that the plan replaces or removes is too large for undo to keep. */
  readonly isUndoable: boolean
  /**
   * Everything that the plan changes by now, as one unified diff, for people who approve it. Content that nobody has
   * read yet is read; what is binary or too large has a line of its own.
   */
  readonly diff: Effect.Effect<string, PlanError>
  /** Diff of those paths only that `isShown` is true for. */
  readonly diffWhere: (isShown: (path: string) => boolean) => Effect.Effect<string, PlanError>
  /**
   * Makes all changes or none, and survives a crash at any moment. Where a file has changed since the plan looked at it,
   * `again` plans anew on the files as they are, while nobody else commits; without it, and where a person approved
   * another state, that is `stale_file`.
   */
  readonly commit: <E = never, R = never>(
    again?: (plan: ChangePlan) => Effect.Effect<unknown, E, R>
  ) => Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R>
}

/** One change to the workspace, as data. `base` is the state it was planned from. */
export type Change =
  | ({ readonly kind: "write"; readonly path: string; readonly content: Content } & WriteOptions)
  | { readonly kind: "delete"; readonly path: string; readonly base?: string; readonly recursive?: boolean }
  | ({ readonly kind: "move"; readonly from: string; readonly to: string } & MoveOptions)
  | { readonly kind: "create_directory"; readonly path: string }
  | { readonly kind: "set_mode"; readonly path: string; readonly mode: number }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string }

/** Plans changes that are given as data, each on the result of the one before. */
export const planChanges = (plan: ChangePlan, changes: ReadonlyArray<Change>): Effect.Effect<void, PlanError> =>
  Effect.forEach(changes, (change) => planChange(plan, change), { discard: true })

const planChange = (plan: ChangePlan, change: Change): Effect.Effect<void, PlanError> => {
  if (change.kind === "write") return plan.write(change.path, change.content, change)
  if (change.kind === "delete") return plan.remove(change.path, change)
  if (change.kind === "move") return plan.move(change.from, change.to, change)
  if (change.kind === "create_directory") return plan.makeDirectory(change.path)
  if (change.kind === "set_mode") return plan.setMode(change.path, change.mode)
  return plan.symlink(change.path, change.target)
}

/** Plans changes that are given as data, and commits them. */
export const commitChanges = Effect.fnUntraced(function* (
  newPlan: Effect.Effect<ChangePlan, LookError>,
  changes: ReadonlyArray<Change>
): Effect.fn.Return<ReadonlyArray<ChangedPath>, CommitError> {
  const plan = yield* newPlan
  yield* planChanges(plan, changes)
  return yield* plan.commit()
})

/** Changes by path, each path once: what a path is in the end against what it was before the plan. */
export const netChanges = (changes: ReadonlyArray<ChangedPath>): ReadonlyArray<ChangedPath> => {
  const standing = new Map<string, ChangedPath>()
  const gone = new Map<string, ChangedPath>()
  const order = new Set<string>()
  const put = (path: string, change: ChangedPath): void => {
    order.add(path)
    standing.set(path, change)
  }
  for (const change of changes) {
    const end = change.movedTo ?? change.path
    const earlier = standing.get(change.path)
    standing.delete(change.path)
    if (change.kind === "deleted") {
      if (earlier?.kind === "created") continue
      const removed = earlier === undefined ? change : { ...since(earlier, change), kind: "deleted" as const }
      const { movedTo: _arrivedAt, ...deletion } = removed
      gone.set(deletion.path, { ...deletion, what: change.what })
      order.add(deletion.path)
      continue
    }
    const removed = gone.get(end)
    const isInPlace = removed !== undefined && (removed.what === "directory") === (change.what === "directory")
    if (change.kind === "created" && removed !== undefined && isInPlace) {
      gone.delete(end)
      put(end, { ...since(removed, change), kind: "modified" })
    } else if (earlier === undefined) put(end, change)
    else if (change.kind === "moved") {
      const kind = earlier.kind === "created" ? "created" : "moved"
      const merged = { ...since(earlier, change), kind, path: kind === "created" ? end : earlier.path } as const
      put(end, kind === "created" ? merged : { ...merged, movedTo: end })
    } else put(end, since(earlier, change))
  }
  return [...order].flatMap((path) => {
    const now = standing.get(path)
    const removal = gone.get(path)
    return [removal, now].filter((change): change is ChangedPath => change !== undefined && !isNothing(change))
  })
}

/** Two changes of one path as one, from the state before the first to the state after the second. */
const since = (first: ChangedPath, second: ChangedPath): ChangedPath => ({
  ...first,
  what: second.what,
  after: second.after,
  bytesWritten: second.kind === "moved" ? first.bytesWritten : second.bytesWritten,
  ...(second.kind === "moved" ? {} : second.contentAfter !== undefined && { contentAfter: second.contentAfter }),
  ...(first.contentBefore === undefined &&
    second.contentBefore !== undefined &&
    first.contentAfter === undefined && { contentBefore: second.contentBefore }),
  ...(second.modeAfter !== undefined && { modeAfter: second.modeAfter }),
  ...(first.modeBefore === undefined && second.modeBefore !== undefined && { modeBefore: second.modeBefore })
})

const isNothing = (change: ChangedPath): boolean => {
  const { kind, path, movedTo, before, after, modeBefore, modeAfter } = change
  const isInPlace = kind === "modified" || (kind === "moved" && path === movedTo)
  return isInPlace && before === after && modeBefore === modeAfter && !isOtherTarget(change)
}

/** True for a link that leads elsewhere: as a state, one link is like any other. */
const isOtherTarget = ({ what, contentBefore, contentAfter }: ChangedPath): boolean =>
  what === "symlink" &&
  contentBefore instanceof Uint8Array &&
  contentAfter instanceof Uint8Array &&
  new TextDecoder().decode(contentBefore) !== new TextDecoder().decode(contentAfter)
