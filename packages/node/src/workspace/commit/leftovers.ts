import { randomUUID } from "node:crypto"
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from "node:fs"
import { join } from "node:path"

import { ignoring, isErrno } from "../../errno.ts"
import { writeFromStart } from "../content.ts"
import { type Root, withResolved } from "../paths/containment.ts"
import { pathOf, type Spot, type Spots } from "../paths/directory-entries.ts"
import { below, type Held, isLastName, letGo, type Technique } from "../paths/handles.ts"
import { atOnce, type Work } from "../turns.ts"
import { isTemporaryName } from "./temporary-name.ts"

/** Temporary names that a commit is about to use. */
export interface SweepRecord {
  readonly id: string
  readonly temporaries: ReadonlyArray<string>
}

/** A file with names to sweep, by the commit that they are of; without one when it holds none. */
export interface FoundSweepFile {
  readonly id: string | undefined
  readonly remove: () => void
}

export interface SweepFile {
  readonly write: (record: SweepRecord) => void
  readonly clear: (id: string) => void
  /** Leftover files of commits that are not under way, this host's and others'. */
  readonly read: (names: ReadonlyArray<string>) => {
    readonly records: ReadonlyArray<SweepRecord>
    readonly files: ReadonlyArray<FoundSweepFile>
  }
  readonly close: () => void
}

/**
 * The file of a host in the journal's directory that serves all its commits, one after the other: on some disks making
 * and removing one takes longer than many a commit. It is written and removed only by whoever has the turn to commit.
 */
export const openSweepFile = (directory: string): SweepFile => {
  let own: { readonly name: string; readonly descriptor: number; holds: string | undefined } | undefined

  const leave = () => {
    if (own !== undefined) closeSync(own.descriptor)
    own = undefined
  }
  const remove = (name: string) => ignoring(() => unlinkSync(join(directory, name)), "ENOENT")

  const clear = (id: string) => {
    if (own?.holds !== id) return
    own.holds = undefined
    try {
      writeFromStart(own.descriptor, Buffer.from("\n"))
    } catch {
      // A full disk has no room for a first line either.
      remove(own.name)
      leave()
    }
  }

  return {
    write: (record) => {
      // A new file, where this one still holds names that could not be swept, or another host has removed it.
      if (own !== undefined && (own.holds !== undefined || fstatSync(own.descriptor).nlink === 0)) leave()
      if (own === undefined) {
        const name = `${randomUUID()}.sweep`
        own = { name, descriptor: openSync(join(directory, name), "wx", 0o600), holds: undefined }
      }
      own.holds = record.id
      writeFromStart(own.descriptor, Buffer.from(`${JSON.stringify(record)}\n`))
    },
    clear,
    read: (names) => {
      const others = names.filter((name) => name.endsWith(".sweep") && (name !== own?.name || own.holds !== undefined))
      const found = others.map((name) => ({ name, record: readRecord(join(directory, name)) }))
      return {
        records: found.flatMap(({ record }) => (record === undefined ? [] : [record])),
        files: found.map(({ name, record }) => ({
          id: record?.id,
          remove: () => (own?.name === name && record !== undefined ? clear(record.id) : remove(name))
        }))
      }
    },
    close: () => {
      if (own !== undefined && own.holds === undefined) remove(own.name)
      leave()
    }
  }
}

/** The first line; what follows is left from longer records before. One that was cut short is of names not used yet. */
const readRecord = (path: string): SweepRecord | undefined => {
  try {
    const { id, temporaries } = JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0] ?? "") as SweepRecord
    return { id, temporaries: temporaries.filter((name) => isTemporaryName(name.slice(name.lastIndexOf("/") + 1))) }
  } catch {
    return undefined
  }
}

/** Removes something that a commit left under a temporary name, and everything in it. */
export const discard = (spots: Spots, path: string): Work => remove(spots, path, letGo)

/** Removes it in one go, with the room that it took free again at once: a disk may be full of it. */
export const discardAtOnce = (spots: Spots, path: string): void => atOnce(remove(spots, path, (held) => held.close()))

function* remove(spots: Spots, path: string, free: (held: Held) => void): Work {
  const spot = spots.at(path)
  const found = lstatSync(pathOf(spot), { throwIfNoEntry: false })
  if (found === undefined) return
  // Removing a name is quick, but freeing the content of a file with no other name is not. As long as the file is held,
  // it is not freed: `free` says when.
  const held = isLastName(found) ? holdIfThere(spots.root, spot) : undefined
  try {
    if (!unlinkIfFile(pathOf(spot))) yield* discardDirectory(spots.root, path)
  } finally {
    if (held !== undefined) free(held)
  }
}

const holdIfThere = ({ technique }: Root, { directory, name }: Spot): Held | undefined => {
  try {
    return technique.hold(directory.base, name)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined
    throw error
  }
}

const unlinkIfFile = (path: string): boolean => {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT")) return true
    // Systems differ in how they refuse to unlink a directory.
    if (isErrno(error, "EISDIR", "EPERM")) return false
    throw error
  }
}

function* discardDirectory(root: Root, path: string): Work {
  const held = withResolved(root, path, ({ found, ...place }) => {
    if (found === undefined) return undefined
    if (found.stats.isDirectory()) return root.technique.enter(place.directory.base, place.name)
    ignoring(() => unlinkSync(pathOf(place)), "ENOENT")
    return undefined
  })
  if (held === undefined) return
  try {
    yield* emptyDirectory(root.technique, held.base)
  } finally {
    held.close()
  }
  withResolved(root, path, (place) => rmdirSync(pathOf(place)))
}

function* emptyDirectory(technique: Technique, directory: string): Work {
  for (const name of readdirSync(directory, { encoding: "buffer" })) {
    const path = below(directory, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      ignoring(() => unlinkSync(path), "ENOENT")
      yield
      continue
    }
    const held = technique.enter(directory, name)
    try {
      yield* emptyDirectory(technique, held.base)
    } finally {
      held.close()
    }
    rmdirSync(path)
  }
}
