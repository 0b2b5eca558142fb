import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
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

/** Calls back for every event of a record, those to come too, until the signal says enough. */
export const followJournal = async (
  file: string,
  { onEvent, signal }: { readonly onEvent: (event: JournalEvent) => void; readonly signal: AbortSignal }
): Promise<void> => {
  let read = 0
  while (!signal.aborted) {
    const content = readFileSync(file)
    const end = content.lastIndexOf(10) + 1
    for (const line of content.subarray(read, end).toString().split("\n")) {
      if (line !== "") onEvent(JSON.parse(line) as JournalEvent)
    }
    read = Math.max(read, end)
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
