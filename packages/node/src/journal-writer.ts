import { fstatSync, ftruncateSync, writeSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

import { firstLink, type RecordedEvent, sealedLine } from "./journal-lines.ts"

interface SealedLine {
  readonly event: RecordedEvent
  readonly line: Buffer
}

/** Seals events and writes each as a line. Those that can wait are written with the next one, or when this turn ends. */
export class JournalWriter {
  /** How many events there are, and the hash of the last. */
  count = 0
  prev = firstLink
  readonly #descriptor: number
  readonly #onWritten: (event: RecordedEvent) => void
  readonly #timeOf = timeTeller()
  #size = 0
  #waiting: Array<SealedLine> = []
  #later: NodeJS.Immediate | undefined

  constructor(descriptor: number, onWritten: (event: RecordedEvent) => void) {
    this.#descriptor = descriptor
    this.#onWritten = onWritten
  }

  /** Throws when the event can't be written; it is then as if it had not been added. */
  add(event: JournalEvent, canWait: boolean): void {
    // Those that could not be written when they should have been come first.
    if (this.#later === undefined) this.write()
    const { count, prev } = this
    const recorded = { ...event, seq: count + 1, at: this.#timeOf(event), prev }
    const { line, hash } = sealedLine(recorded)
    this.#waiting.push({ event: recorded, line })
    this.count++
    this.prev = hash
    if (canWait) {
      this.#later ??= setImmediate(() => this.#writeLater())
      return
    }
    try {
      this.write()
    } catch (error) {
      this.#waiting.pop()
      this.count = count
      this.prev = prev
      throw error
    }
  }

  write(): void {
    const lines = this.#waiting
    if (lines.length === 0) return
    clearImmediate(this.#later)
    this.#later = undefined
    // The end of a call can't be stopped any more; everything else needs a record that is still there.
    if (lines.some(({ event }) => event.type !== "tool_call_finished")) requireFile(this.#descriptor)
    this.#size += writeWhole(this.#descriptor, joined(lines), this.#size)
    this.#waiting = []
    for (const { event } of lines) this.#onWritten(event)
  }

  #writeLater(): void {
    try {
      this.#later = undefined
      this.write()
    } catch {
      // Whoever adds the next event is told.
    }
  }
}

const joined = (lines: ReadonlyArray<SealedLine>): Buffer => {
  const [first] = lines
  return lines.length === 1 && first !== undefined ? first.line : Buffer.concat(lines.map(({ line }) => line))
}

const requireFile = (descriptor: number): void => {
  if (fstatSync(descriptor).nlink === 0) throw new Error("the file was removed")
}

/** One write. Half of it is taken back: the record goes on whole, or not at all. */
const writeWhole = (descriptor: number, lines: Buffer, size: number): number => {
  let written = 0
  try {
    written = writeSync(descriptor, lines)
    if (written < lines.length) throw new Error("the disk is full")
    return written
  } catch (error) {
    if (written > 0) ftruncateSync(descriptor, size)
    throw error
  }
}

// Several events share a millisecond: it is put into words once.
const timeTeller = (): ((event: JournalEvent) => string) => {
  let last = Number.NaN
  let told = ""
  return ({ at }) => {
    const time = typeof at === "number" ? at : Date.now()
    if (time !== last) [last, told] = [time, new Date(time).toISOString()]
    return told
  }
}
