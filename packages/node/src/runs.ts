import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import type { JournalEvent } from "@haft/core"

/** One life of a host, and where its record is. */
export interface RunFile {
  readonly name: string
  readonly file: string
  readonly bytes: number
}

/** The runs below a state directory, oldest first: their names begin with the time. */
export const listRuns = (directory: string): ReadonlyArray<RunFile> => {
  const runs = join(directory, "runs")
  if (!existsSync(runs)) return []
  return readdirSync(runs)
    .toSorted()
    .map((name) => ({ name, file: join(runs, name, "events.jsonl") }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, file, bytes: statSync(file).size }))
}

const pollMs = 200
const pieceBytes = 64 * 1024

/** Calls back for every event of a record, those to come too, until the signal says enough. */
export const followJournal = async (
  file: string,
  { onEvent, signal }: { readonly onEvent: (event: JournalEvent) => void; readonly signal: AbortSignal }
): Promise<void> => {
  const descriptor = openSync(file, "r")
  try {
    const piece = Buffer.alloc(pieceBytes)
    let begun: ReadonlyArray<Buffer> = []
    while (!signal.aborted) {
      const bytes = readSync(descriptor, piece)
      const end = piece.subarray(0, bytes).lastIndexOf(10) + 1
      if (end > 0) {
        for (const event of readEvents(Buffer.concat([...begun, piece.subarray(0, end)]))) onEvent(event)
        begun = []
      }
      if (bytes > end) begun = [...begun, Buffer.from(piece.subarray(end, bytes))]
      if (bytes === 0) await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
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
