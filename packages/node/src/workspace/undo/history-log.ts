import { appendFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"

import { isErrno } from "../../errno.ts"
import type { Owner } from "../commit/owner.ts"
import { newline } from "../content.ts"

/** One thing a commit did, with what is needed to take it back. */
export type Recorded =
  | {
      readonly did: "write"
      readonly path: string
      readonly before: { readonly state: string; readonly mode: number } | null
      readonly after: string
      /** Absent where the mode stayed: then going back leaves it as it is. */
      readonly changedMode?: boolean
    }
  | {
      readonly did: "delete"
      readonly path: string
      readonly state: string
      readonly mode: number
      readonly target?: string
      /** Set where the file was somebody else's than the host's user. */
      readonly owner?: Owner
    }
  | { readonly did: "move"; readonly from: string; readonly to: string; readonly state: string }
  | { readonly did: "make_directory"; readonly path: string }
  /** Of a directory. */
  | { readonly did: "set_mode"; readonly path: string; readonly before: number; readonly after: number }

/** One commit on record. It is put down before the commit happens: a crash can't lose it. */
export interface HistoryEntry {
  readonly id: string
  readonly call: string
  readonly run: string
  readonly tool: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly did: ReadonlyArray<Recorded>
  /** Set where what it replaced was too large to keep. */
  readonly tooLarge?: boolean
  /** The entries that this one took back. */
  readonly undoes?: ReadonlyArray<string>
}

type Line = HistoryEntry | { readonly cancelled: string }

/** The entries of a history, a line each. Whoever has the turn to commit is the only one to write. */
export interface HistoryLog {
  /** Oldest first, without the cancelled. */
  readonly entries: () => ReadonlyArray<HistoryEntry>
  readonly append: (entry: HistoryEntry) => void
  readonly cancel: (id: string) => void
  /** Leaves these entries and no others. */
  readonly rewrite: (entries: ReadonlyArray<HistoryEntry>) => void
}

export const openHistoryLog = (file: string): HistoryLog => {
  endLastLine(file)
  return {
    entries: () => {
      const lines = readLines(file)
      const cancelled = new Set(lines.flatMap((line) => ("cancelled" in line ? [line.cancelled] : [])))
      return lines.filter((line): line is HistoryEntry => !("cancelled" in line) && !cancelled.has(line.id))
    },
    append: (entry) => appendWhole(file, entry),
    cancel: (id) => {
      const lines = readFileSync(file)
      const last = lines.lastIndexOf(newline, -2) + 1
      const isLast = parseLine(lines.toString("utf8", last)).some((line) => "id" in line && line.id === id)
      // Cutting the last line off works on a full disk, too, which has no room for another.
      if (isLast) truncateSync(file, last)
      else appendWhole(file, { cancelled: id })
    },
    rewrite: (entries) => {
      try {
        writeFileSync(`${file}.new`, entries.map(lineOf).join(""), { mode: 0o600 })
        renameSync(`${file}.new`, file)
      } catch (error) {
        rmSync(`${file}.new`, { force: true })
        throw error
      }
    }
  }
}

/** A line that a crash cut short must not swallow the next one. */
const endLastLine = (file: string): void => {
  if (sizeOf(file) > 0 && readFileSync(file).at(-1) !== newline) appendFileSync(file, "\n")
}

const readLines = (file: string): Array<Line> => {
  try {
    return readFileSync(file, "utf8").split("\n").flatMap(parseLine)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    throw error
  }
}

const parseLine = (line: string): Array<Line> => {
  if (line === "") return []
  try {
    return [JSON.parse(line) as Line]
  } catch {
    // A line that a crash cut short belongs to a commit that never happened.
    return []
  }
}

const lineOf = (line: Line): string => `${JSON.stringify(line)}\n`

/** Takes half a line back where there was no room for all of it: the next one would be appended to it. */
const appendWhole = (file: string, line: Line): void => {
  const size = sizeOf(file)
  try {
    appendFileSync(file, lineOf(line), { mode: 0o600 })
  } catch (error) {
    if (sizeOf(file) > size) truncateSync(file, size)
    throw error
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
