import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import type { JournalEvent } from "@haft/core"

import { newline } from "../workspace/content.ts"

/** One life of a host, and where its record is. */
export interface RunFile {
  readonly name: string
  readonly file: string
  readonly bytes: number
}

/** The runs below a state directory, oldest first: their names begin with the time. */
export const listRuns = (directory: string): ReadonlyArray<RunFile> =>
  runsFrom(directory, "").map(({ name, file }) => ({ name, file, bytes: statSync(file).size }))

/**
 * True for a run that began before a time. Names begin with the time in UTC as 20261117T224057635; a run with a name of
 * another kind is never old.
 */
export const isRunBefore = (run: string, before: Date): boolean =>
  /^\d{8}T\d{9}-/.test(run) && run < before.toISOString().replaceAll(/[-:.Z]/g, "")

const runsFrom = (directory: string, first: string): ReadonlyArray<Omit<RunFile, "bytes">> => {
  const runs = join(directory, "runs")
  if (!existsSync(runs)) return []
  return readdirSync(runs)
    .filter((name) => name >= first)
    .toSorted()
    .map((name) => ({ name, file: join(runs, name, "events.jsonl") }))
    .filter(({ file }) => existsSync(file))
}

const pollMs = 200
const pieceBytes = 64 * 1024

export interface FollowOptions {
  readonly onEvent: (event: JournalEvent) => void
  readonly signal: AbortSignal
}

/** Calls back for every event of a record, those to come too, until the signal says enough. */
export const followJournal = (file: string, options: FollowOptions): Promise<void> => followFiles(() => [file], options)

/** Calls back for every event of the last run and of all that come after it, until the signal says enough. */
export const followRuns = (directory: string, options: FollowOptions): Promise<void> => {
  const last = listRuns(directory).findLast(({ bytes }) => bytes > 0)
  return followFiles(() => runsFrom(directory, last?.name ?? "").map(({ file }) => file), options)
}

interface Followed {
  readonly offset: number
  /** The beginning of a line that is not whole yet. */
  readonly begun: ReadonlyArray<Buffer>
}

const followFiles = async (files: () => ReadonlyArray<string>, { onEvent, signal }: FollowOptions): Promise<void> => {
  const followed = new Map<string, Followed>()
  const piece = Buffer.alloc(pieceBytes)
  while (!signal.aborted) {
    let hasMore = false
    for (const file of files()) {
      const { offset, begun } = followed.get(file) ?? { offset: 0, begun: [] }
      if (statSync(file).size <= offset) continue
      const bytes = readAt(file, piece, offset)
      const end = piece.subarray(0, bytes).lastIndexOf(newline) + 1
      if (end > 0) {
        for (const event of readEvents(Buffer.concat([...begun, piece.subarray(0, end)]))) onEvent(event)
      }
      const rest = bytes > end ? [Buffer.from(piece.subarray(end, bytes))] : []
      followed.set(file, { offset: offset + bytes, begun: end > 0 ? rest : [...begun, ...rest] })
      hasMore = true
    }
    // Also between the pieces of a long record, or the signal would not be heard.
    await sleep(hasMore ? 0 : pollMs, undefined, { signal }).catch(() => undefined)
  }
}

const readAt = (file: string, piece: Buffer, offset: number): number => {
  const descriptor = openSync(file, "r")
  try {
    return readSync(descriptor, piece, 0, piece.length, offset)
  } finally {
    closeSync(descriptor)
  }
}

// A line that somebody has damaged is not an event; `verify` is there to say so.
const readEvents = (lines: Buffer): ReadonlyArray<JournalEvent> =>
  lines
    .toString()
    .split("\n")
    .flatMap((line) => {
      try {
        return line === "" ? [] : [JSON.parse(line) as JournalEvent]
      } catch {
        return []
      }
    })
