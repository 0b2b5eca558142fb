import { fstatSync, ftruncateSync, writeSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

import { firstLink, type RecordedEvent, sealedLine } from "./journal-lines.ts"

interface WaitingEvent {
  readonly event: JournalEvent
  /** Told once the event is written, or why it can't be. One without it waits until it can be. */
  readonly done?: (failure?: unknown) => void
}

/** Seals events and writes each as a line, all that wait in one go. */
export class JournalWriter {
  /** How many events are written, and the hash of the last. */
  count = 0
  prev = firstLink
  readonly #descriptor: number
  readonly #onWritten: (event: RecordedEvent) => void
  readonly #timeOf = timeTeller()
  #size = 0
  #waiting: Array<WaitingEvent> = []
  #later: NodeJS.Immediate | undefined

  constructor(descriptor: number, onWritten: (event: RecordedEvent) => void) {
    this.#descriptor = descriptor
    this.#onWritten = onWritten
  }

  /** Writes an event at once, and throws when it can't be written. */
  add(event: JournalEvent): void {
    let failure: unknown
    this.#waiting.push({ event, done: (why) => (failure = why) })
    this.write()
    if (failure !== undefined) throw failure
  }

  /** Leaves an event to the next write, at the end of this turn of the event loop at the latest. */
  addLater(event: JournalEvent, done?: (failure?: unknown) => void): void {
    this.#waiting.push(done === undefined ? { event } : { event, done })
    this.#later ??= setImmediate(() => this.write())
  }

  /** Whether something waits that could not be written when it should have been. */
  get isStuck(): boolean {
    return this.#waiting.length > 0 && this.#later === undefined
  }

  write(): void {
    clearImmediate(this.#later)
    this.#later = undefined
    const waiting = this.#waiting
    if (waiting.length === 0) return
    let failure: unknown
    try {
      const written = this.#writeAll(waiting)
      this.#waiting = []
      for (const event of written) this.#onWritten(event)
    } catch (cause) {
      this.#waiting = waiting.filter(({ done }) => done === undefined)
      failure = cause
    }
    for (const { done } of waiting) done?.(failure)
  }

  #writeAll(waiting: ReadonlyArray<WaitingEvent>): ReadonlyArray<RecordedEvent> {
    // The end of a call can't be stopped any more; everything else needs a record that is still there.
    if (waiting.some(({ event }) => event.type !== "tool_call_finished")) requireFile(this.#descriptor)
    let { count, prev } = this
    const lines: Array<Buffer> = []
    const events = waiting.map(({ event }) => {
      const recorded = { ...event, seq: ++count, at: this.#timeOf(event), prev }
      const { line, hash } = sealedLine(recorded)
      lines.push(line)
      prev = hash
      return recorded
    })
    this.#size += writeWhole(this.#descriptor, Buffer.concat(lines), this.#size)
    this.count = count
    this.prev = prev
    return events
  }
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
