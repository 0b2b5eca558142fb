import { singleLine } from "@haft/core"
import type { Change, ChangedPath, FileInfo } from "@haft/core"

import type { TextFile } from "./text-file.ts"
import { unifiedDiff } from "./unified-diff.ts"

/** What became of one path. */
export interface PlannedChange {
  readonly path: string
  readonly kind: "created" | "modified" | "deleted" | "moved"
  readonly movedTo: string | undefined
  readonly bytesWritten: number
  /** The state of the file afterwards, as `Workspace.fingerprint` names it. */
  readonly hash: string
}

/** One path of a plan: what is on disk there, and what will be. */
export interface PlannedPath {
  readonly path: string
  readonly disk: FileInfo | undefined
  /** What the plan was made from: see `Workspace.fingerprint`. */
  base: string | undefined
  /** What is there before the plan. */
  original: PlannedFile | undefined
  /** What is there after it. */
  holds: PlannedFile | undefined
}

/** One file of a plan. It stays the same file when it goes from path to path. */
export interface PlannedFile {
  /** Where it is on disk; undefined for a new one. */
  readonly home: PlannedPath | undefined
  /** The text on disk, once it was read. */
  before: TextFile | undefined
  now: TextFile | "as it is"
  /** What it holds, read because it has to be written elsewhere as it is. */
  bytes: Uint8Array | undefined
  readonly mode: number | undefined
  newMode: number | undefined
}

export const newPath = (path: string, disk: FileInfo | undefined): PlannedPath => {
  const planned: PlannedPath = {
    path,
    disk,
    base: disk === undefined ? "absent" : undefined,
    original: undefined,
    holds: undefined
  }
  if (disk !== undefined) {
    const file = { home: planned, before: undefined, bytes: undefined, mode: disk.mode, newMode: undefined }
    planned.original = planned.holds = { ...file, now: "as it is" }
  }
  return planned
}

export const newFile = (now: TextFile): PlannedFile => ({
  home: undefined,
  before: undefined,
  now,
  bytes: undefined,
  mode: undefined,
  newMode: undefined
})

export const isLink = ({ disk }: PlannedPath): boolean => disk?.kind === "symlink"

/** What a plan comes to: its paths that change, with the path that each file of them ends at. */
export class Outcome {
  readonly paths: ReadonlyArray<PlannedPath>
  readonly #ends: ReadonlyMap<PlannedFile, PlannedPath>

  constructor(paths: Iterable<PlannedPath>) {
    const all = [...new Set(paths)]
    this.paths = all.filter(isChanged)
    this.#ends = new Map(all.flatMap((path) => (path.holds === undefined ? [] : [[path.holds, path] as const])))
  }

  /**
   * What goes away, then what goes elsewhere, then what is written: each finds its place free, and a directory can
   * take a file's place. What goes elsewhere and changes does so in two steps, so that its mode and owner go with it.
   */
  get changes(): ReadonlyArray<Change> {
    return [
      ...this.paths.flatMap((path) => this.#removal(path)),
      ...this.paths.flatMap((path) => moveOf(path)),
      ...this.paths.flatMap((path) => this.#write(path))
    ]
  }

  get diff(): string {
    return this.paths.map((path) => this.#diffOf(path)).join("")
  }

  /** Nothing for a file that was written with the content it had. */
  report(made: ReadonlyArray<ChangedPath>): ReadonlyArray<PlannedChange> {
    const arrived = new Map(
      made.flatMap((one) => (one.kind === "deleted" ? [] : [[one.movedTo ?? one.path, one] as const]))
    )
    return this.paths.flatMap((planned): ReadonlyArray<PlannedChange> => {
      const { path, disk, holds } = planned
      const change = arrived.get(path)
      const facts = { bytesWritten: change?.bytesWritten ?? 0, hash: change?.after ?? "absent" }
      if (holds === undefined) {
        return this.#hasMoved(planned) ? [] : [{ path, kind: "deleted", movedTo: undefined, ...facts }]
      }
      const { home } = holds
      if (home !== undefined && home !== planned) return [{ path: home.path, kind: "moved", movedTo: path, ...facts }]
      if (change === undefined) return []
      const kind = disk === undefined || this.#hasMoved(planned) ? "created" : "modified"
      return [{ path, kind, movedTo: undefined, ...facts }]
    })
  }

  /** True when what was at a path is elsewhere afterwards. */
  #hasMoved({ original, holds }: PlannedPath): boolean {
    return original !== undefined && original !== holds && this.#ends.has(original)
  }

  /** True when it went there by a move of its own, so that its place is free. */
  #hasLeft(planned: PlannedPath): boolean {
    const end = planned.original && this.#ends.get(planned.original)
    return end !== undefined && arrives(end)
  }

  #removal(planned: PlannedPath): ReadonlyArray<Change> {
    const { path, disk, base, holds, original } = planned
    if (disk === undefined || holds === original || this.#hasLeft(planned)) return []
    if (isLink(planned)) return [{ kind: "delete", path }]
    return holds === undefined ? [{ kind: "delete", path, ...(base !== undefined && { base }) }] : []
  }

  #write(planned: PlannedPath): ReadonlyArray<Change> {
    const { path, holds } = planned
    const isArriving = arrives(planned)
    if (holds === undefined || (isArriving && isAsItWas(holds))) return []
    const isFree = this.#hasLeft(planned) || isLink(planned)
    const base = isArriving ? holds.home?.base : isFree ? "absent" : planned.base
    // Only the plain permission bits: a file that is made anew may belong to another user, for whom set-user-ID would
    // mean something else.
    const carried = isArriving || holds.home === planned ? undefined : holds.mode && holds.mode & 0o777
    const mode = holds.newMode ?? carried
    return [
      {
        kind: "write",
        path,
        content: holds.now === "as it is" ? (holds.bytes ?? new Uint8Array()) : holds.now.encode(),
        createDirectories: true,
        ...(base !== undefined && { base }),
        ...(mode !== undefined && { mode })
      }
    ]
  }

  #diffOf(planned: PlannedPath): string {
    const { path, disk, original, holds } = planned
    const gone = original !== holds && !this.#hasMoved(planned) ? original : undefined
    if (holds === undefined) return gone === undefined ? "" : removalDiff(planned, gone)
    const { home, now } = holds
    const modes = modeLines(holds)
    if (home !== undefined) {
      const replaced = gone === undefined ? "" : removalDiff(planned, gone)
      const after = now === "as it is" ? holds.before : now
      return replaced + modes + unifiedDiff({ oldPath: home.path, newPath: path, before: holds.before, after })
    }
    if (gone !== undefined && (isLink(planned) || gone.before === undefined)) {
      return removalDiff(planned, gone) + modes + unifiedDiff({ ...nothing, newPath: path, after: textOf(now) })
    }
    const oldPath = disk === undefined || gone === undefined ? undefined : path
    return modes + unifiedDiff({ oldPath, newPath: path, before: gone?.before, after: textOf(now) })
  }
}

const nothing = { oldPath: undefined, before: undefined }

export const textOf = (now: PlannedFile["now"]): TextFile | undefined => (now === "as it is" ? undefined : now)

const isChanged = ({ original, holds }: PlannedPath): boolean =>
  holds !== original || (holds !== undefined && !isAsItWas(holds))

const isAsItWas = ({ now, before, mode, newMode }: PlannedFile): boolean =>
  (now === "as it is" || now === before) && (newMode === undefined || newMode === mode)

/** True for a file that gets another path, where nothing is on disk. */
const arrives = ({ disk, holds }: PlannedPath): boolean => disk === undefined && holds?.home !== undefined

const moveOf = (planned: PlannedPath): ReadonlyArray<Change> => {
  const from = planned.holds?.home?.path
  if (from === undefined || !arrives(planned)) return []
  return [{ kind: "move", from, to: planned.path, createDirectories: true }]
}

const removalDiff = (planned: PlannedPath, { before }: PlannedFile): string => {
  const { path } = planned
  if (isLink(planned)) return `deleted ${singleLine(path)}\n`
  if (before === undefined) return `Binary file ${singleLine(path)} is replaced or deleted\n`
  return unifiedDiff({ oldPath: path, newPath: undefined, before, after: undefined })
}

const modeLines = ({ home, mode = 0, newMode }: PlannedFile): string => {
  if (newMode === undefined || newMode === mode) return ""
  const spelled = (bits: number) => `100${bits.toString(8).padStart(3, "0")}\n`
  return home === undefined
    ? `new file mode ${spelled(newMode)}`
    : `old mode ${spelled(mode)}new mode ${spelled(newMode)}`
}
