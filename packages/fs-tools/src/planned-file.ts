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

/** One file of a plan: what is on disk, and what will be. */
export interface PlannedFile {
  readonly path: string
  readonly disk: FileInfo | undefined
  /** What the plan was made from: see `Workspace.fingerprint`. */
  base: string | undefined
  /** The text on disk, once it was read. */
  before: TextFile | undefined
  now: TextFile | "on disk" | "absent"
  /** What is on disk, for a file of which only the mode changes. */
  bytes: Uint8Array | undefined
  mode: number | undefined
  newMode: number | undefined
  movedFrom: PlannedFile | undefined
}

export const newFile = (path: string, disk: FileInfo | undefined): PlannedFile => ({
  path,
  disk,
  base: disk === undefined ? "absent" : undefined,
  before: undefined,
  now: disk === undefined ? "absent" : "on disk",
  bytes: undefined,
  mode: disk?.mode,
  newMode: undefined,
  movedFrom: undefined
})

export const isChanged = ({ disk, before, now, mode, newMode, movedFrom }: PlannedFile): boolean => {
  if (movedFrom !== undefined) return true
  if (newMode !== undefined && newMode !== mode && now !== "absent") return true
  if (now === "absent") return disk !== undefined
  return now !== "on disk" && (disk === undefined || now !== before)
}

const isMovedAsItIs = ({ now, newMode, movedFrom }: PlannedFile): boolean =>
  movedFrom !== undefined && newMode === undefined && (now === "on disk" || now === movedFrom.before)

export const diffOf = (file: PlannedFile): string => {
  const { path, disk, now } = file
  const origin = file.movedFrom ?? file
  const isText = origin.disk === undefined || origin.before !== undefined
  if (!isText && now !== "on disk") return `Binary file ${path} is replaced or deleted\n`
  const modes = file.newMode === undefined || disk === undefined ? "" : modeLines(file.mode ?? 0, file.newMode)
  const after = now === "on disk" ? origin.before : now
  return (
    modes +
    unifiedDiff({
      oldPath: origin.disk === undefined ? undefined : origin.path,
      newPath: now === "absent" ? undefined : path,
      before: origin.before,
      after: after === "absent" ? undefined : after
    })
  )
}

const modeLines = (from: number, to: number): string =>
  from === to
    ? ""
    : `old mode 100${from.toString(8).padStart(3, "0")}\nnew mode 100${to.toString(8).padStart(3, "0")}\n`

export const removalsOf = (file: PlannedFile): ReadonlyArray<Change> => {
  const { now, movedFrom, disk } = file
  const gone = movedFrom ?? (now === "absent" && disk !== undefined ? file : undefined)
  if (gone === undefined || isMovedAsItIs(file)) return []
  return [{ kind: "delete", path: gone.path, ...(gone.base !== undefined && { base: gone.base }) }]
}

export const writesOf = (file: PlannedFile): ReadonlyArray<Change> => {
  const { path, now, bytes = new Uint8Array(), movedFrom, mode, newMode, base } = file
  if (now === "absent") return []
  if (movedFrom !== undefined && isMovedAsItIs(file)) {
    return [{ kind: "move", from: movedFrom.path, to: path, createDirectories: true }]
  }
  const written = newMode ?? (movedFrom === undefined ? undefined : mode)
  return [
    {
      kind: "write",
      path,
      content: now === "on disk" ? bytes : now.encode(),
      createDirectories: true,
      ...(base !== undefined && { base }),
      ...(written !== undefined && { mode: written })
    }
  ]
}

/** Nothing for a file that was written with the content it had. */
export const reportOf = (file: PlannedFile, change: ChangedPath | undefined): ReadonlyArray<PlannedChange> => {
  const { path, now, movedFrom, disk } = file
  const facts = { bytesWritten: change?.bytesWritten ?? 0, hash: change?.after ?? "absent" }
  if (movedFrom !== undefined) return [{ path: movedFrom.path, kind: "moved", movedTo: path, ...facts }]
  if (now === "absent") return [{ path, kind: "deleted", movedTo: undefined, ...facts }]
  if (change === undefined) return []
  return [{ path, kind: disk === undefined ? "created" : "modified", movedTo: undefined, ...facts }]
}
