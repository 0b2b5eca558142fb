import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs"
import { setImmediate as otherWork } from "node:timers/promises"

import { newline } from "../workspace/content.ts"

/** A place is remembered after so many lines or bytes, so that a page costs what it holds and not what stands before. */
const strideLines = 256
const strideBytes = 256 << 10
const chunkBytes = 256 << 10

/** A page ends here, whatever is asked for, but has one event at least. */
const pageBytes = 128 << 10

/** A record that is read in parts and may grow meanwhile. Its events are numbered by line, from 1. */
export interface JournalPages {
  /** How many events there are by now. */
  readonly total: () => Promise<number>
  /** The events after one of them, as they stand in the file: JSON, a line each. */
  readonly read: (after: number, limit: number) => Promise<ReadonlyArray<string>>
}

/** A line of the file, by its number from 0, and where it begins. */
interface Mark {
  readonly line: number
  readonly at: number
}

const start: Mark = { line: 0, at: 0 }

/** Reads a record in parts. What was seen of the file once is not looked at again, but for the page itself. */
export const journalPages = (file: string): JournalPages => {
  let last: Mark = start
  const marks = [last]
  let lines = 0
  let end = 0

  const look = async (): Promise<void> => {
    if (!existsSync(file)) return
    for (let at = end, length = chunkBytes; length === chunkBytes; at += length) {
      const chunk = withFile(file, (descriptor) => readAt(descriptor, at, chunkBytes))
      for (let lineEnd = chunk.indexOf(newline); lineEnd !== -1; lineEnd = chunk.indexOf(newline, lineEnd + 1)) {
        end = at + lineEnd + 1
        lines++
        if (lines - last.line < strideLines && end - last.at < strideBytes) continue
        last = { line: lines, at: end }
        marks.push(last)
      }
      length = chunk.length
      if (length === chunkBytes) await otherWork()
    }
  }

  // One look at a time: two would count the same lines.
  let looking: Promise<void> | undefined
  const upToDate = (): Promise<void> =>
    (looking ??= look().finally(() => {
      looking = undefined
    }))

  return {
    total: async () => {
      await upToDate()
      return lines
    },
    read: async (after, limit) => {
      await upToDate()
      const wanted = Math.min(limit, lines - after)
      if (wanted <= 0) return []
      const from = marks.findLast(({ line }) => line <= after) ?? start
      const until = marks.find(({ line }) => line >= after + wanted)?.at ?? end
      const skip = after - from.line
      return withFile(file, (descriptor) => linesOf(descriptor, { from: from.at, until, skip, wanted }))
    }
  }
}

const linesOf = (
  descriptor: number,
  { from, until, skip, wanted }: Record<"from" | "until" | "skip" | "wanted", number>
): ReadonlyArray<string> => {
  const found: Array<string> = []
  let size = 0
  let left = skip
  let rest = Buffer.alloc(0)
  for (let at = from; at < until; at += chunkBytes) {
    const chunk = Buffer.concat([rest, readAt(descriptor, at, Math.min(chunkBytes, until - at))])
    let start = 0
    for (let lineEnd = chunk.indexOf(newline); lineEnd !== -1; lineEnd = chunk.indexOf(newline, start)) {
      if (left-- <= 0) {
        if (found.length > 0 && size + lineEnd - start > pageBytes) return found
        found.push(chunk.toString("utf8", start, lineEnd))
        size += lineEnd - start
        if (found.length === wanted) return found
      }
      start = lineEnd + 1
    }
    rest = chunk.subarray(start)
  }
  return found
}

const withFile = <A>(file: string, read: (descriptor: number) => A): A => {
  const descriptor = openSync(file, "r")
  try {
    return read(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const readAt = (descriptor: number, at: number, length: number): Buffer => {
  const buffer = Buffer.allocUnsafe(Math.min(length, Math.max(0, fstatSync(descriptor).size - at)))
  return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, at))
}
