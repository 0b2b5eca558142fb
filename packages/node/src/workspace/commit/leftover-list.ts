import { randomUUID } from "node:crypto"
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync } from "node:fs"
import { join } from "node:path"

import { ignoring } from "../../errno.ts"
import { writeFromStart } from "../content.ts"
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
  /** What commits that are not under way have left to sweep, this host's and others'. */
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
