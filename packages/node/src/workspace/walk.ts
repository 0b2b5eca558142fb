import { type Dirent, lstatSync, readdirSync } from "node:fs"

import type { DirectoryEntry, FileKind, WalkEntry, WalkStep } from "@haft/core"

import { isAboutPath } from "../errno.ts"
import { kindOf } from "./content.ts"
import { type Root, withResolved } from "./paths/containment.ts"
import type { Held } from "./paths/handles.ts"

/** A directory's entries, sorted by code unit. */
export const readEntries = ({ commits }: Root, directory: string): Array<DirectoryEntry> =>
  readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !commits.own(name))
    .map((entry) => ({ name: entry.name, kind: kindOfEntry(directory, entry) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** A walk that is under way. It does a slice of work at a time, so that others get a turn in between. */
export interface Walk {
  /** Works for about so many milliseconds; true when the walk is over. */
  readonly advance: (milliseconds: number) => boolean
  readonly close: () => void
}

export interface WalkVisitor {
  readonly visit: (entry: WalkEntry) => WalkStep
  /** Told of a directory before its entries are visited. */
  readonly enter?: (directory: EnteredDirectory) => void
  /** Told of a directory that can't be read. */
  readonly skip?: (path: string) => void
}

export interface EnteredDirectory {
  /** Relative to the start; it ends with a slash, or is empty for the start itself. */
  readonly path: string
  readonly entries: ReadonlyArray<DirectoryEntry>
  /** That of its entries. */
  readonly depth: number
  /** Valid during the call. */
  readonly held: Held
}

// Deeper directories are reached from the root each time instead of being kept open all the way down.
const heldLevels = 200

/**
 * Visits everything below `start` in the order of the relative paths: what will be shown is found first, and
 * a visitor that has enough stops the walk. Directories that can't be read count as empty.
 */
export const startWalk = (root: Root, start: string, visitor: WalkVisitor): Walk => {
  const levels: Array<Level> = []
  const enter = (path: string, depth: number, open: () => Held): void => {
    let held: Held | undefined
    try {
      held = open()
      const entries = readEntries(root, held.base)
      visitor.enter?.({ path, entries, depth, held })
      const isKept = levels.length < heldLevels
      if (!isKept) held.close()
      levels.push({ path, depth, entries, next: 0, waiting: [], held: isKept ? held : undefined })
    } catch (error) {
      held?.close()
      if (!isAboutPath(error)) throw error
      visitor.skip?.(path)
    }
  }
  const close = () => {
    for (const level of levels) level.held?.close()
    levels.length = 0
  }

  enter("", 0, () => holdFromRoot(root, start))
  return {
    close,
    advance: (milliseconds) => {
      const until = performance.now() + milliseconds
      for (let done = 1; ; done++) {
        if (done % 64 === 0 && performance.now() > until) return false
        const level = levels.at(-1)
        if (level === undefined) return true
        const entry = level.entries[level.next]
        const inner = level.waiting.at(-1)
        if (inner !== undefined && (entry === undefined || `${inner}/` < entry.name)) {
          level.waiting.pop()
          const path = level.path + inner
          enter(`${path}/`, level.depth + 1, () =>
            level.held === undefined
              ? holdFromRoot(root, start === "." ? path : `${start}/${path}`)
              : root.technique.enter(level.held.base, inner)
          )
          continue
        }
        if (entry === undefined) {
          level.held?.close()
          levels.pop()
          continue
        }
        level.next++
        const path = level.path + entry.name
        const step = visitor.visit({ path, name: entry.name, kind: entry.kind, depth: level.depth })
        if (step === "stop") {
          close()
          return true
        }
        if (entry.kind === "directory" && step === "continue") level.waiting.push(entry.name)
      }
    }
  }
}

interface Level {
  /** Relative to the start, with a slash at the end unless it is the start. */
  readonly path: string
  readonly depth: number
  readonly entries: ReadonlyArray<DirectoryEntry>
  next: number
  /** Directories that were visited, and stand before what is in them: `d`, `d-e`, `d/x`. The last is entered first. */
  readonly waiting: Array<string>
  readonly held: Held | undefined
}

const holdFromRoot = (root: Root, path: string): Held =>
  withResolved(root, path, ({ directory, name }) => root.technique.enter(directory.base, name === "" ? "." : name))

const kindOfEntry = (directory: string, entry: Dirent): FileKind => {
  const kind = kindOf(entry)
  if (kind !== "other") return kind
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return "other"
  // Some file systems do not tell the type with the name.
  const stats = lstatSync(`${directory}/${entry.name}`, { throwIfNoEntry: false })
  return stats === undefined ? "other" : kindOf(stats)
}
