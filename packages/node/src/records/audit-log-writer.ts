import { fstatSync, ftruncateSync, writeSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

import { firstLink, type RecordedEvent, sealedJson } from "./audit-log-lines.ts"

type TimedEvent = JournalEvent & Pick<RecordedEvent, "at">

interface WaitingEvent {
  readonly event: TimedEvent
  /** The event as JSON, made when it came: one that is too large to be JSON fails its own call and no other. */
  readonly json: string
  /** The event's reply as JSON, if it has one. */
  readonly replyJson: string | undefined
  /** Told once the event is written, or why it can't be. One without it waits until it can be. */
  readonly done?: (failure?: unknown) => void
}

interface WrittenEvent extends Pick<WaitingEvent, "replyJson"> {
  readonly event: RecordedEvent
}

/** Told about every event once it is written. */
type OnWritten = (event: RecordedEvent, replyJson: string | undefined) => void

/** Seals events and writes each as a line, all that wait in one go. */
export class JournalWriter {
  /** How many events are written, and the hash of the last. */
  count = 0
  prev = firstLink
  /** True if the last write failed: then nothing more should wait. */
  isStuck = false
  readonly #descriptor: number
  readonly #onWritten: OnWritten
  readonly #timeOf = timeTeller()
  #size = 0
  #isTorn = false
  #isClosed = false
  #waiting: Array<WaitingEvent> = []
  #endOfTurn: NodeJS.Immediate | undefined
  /** How many were waited for in this turn, and whether there were several in the last. */
  #awaited = 0
  #isCrowded = false
  #untold: Array<WrittenEvent> = []

  constructor(descriptor: number, onWritten: OnWritten) {
    this.#descriptor = descriptor
    this.#onWritten = onWritten
  }

  /** Writes an event at once, and throws when it can't be written. */
  add(event: JournalEvent): void {
    let failure: unknown
    const waiting = this.#waitingFor(event, (why) => (failure = why))
    const isAlone = this.#waiting.length === 0
    this.#waiting.push(waiting)
    this.write()
    if (failure === undefined) return
    // A call that has ended can't be stopped any more: its end is tried alone, in case what came before it was the
    // problem.
    if (isAlone || !isEnd(waiting)) throw failure
    this.#record([waiting])
  }

  /**
   * Leaves an event to the next write, at the end of this turn of the event loop at the latest. One that is waited for is
   * written at once if it is the first in its turn and the last turn had no more than one: then it is most likely alone.
   */
  addLater(event: JournalEvent, done?: (failure?: unknown) => void): void {
    this.#waiting.push(this.#waitingFor(event, done))
    this.#endOfTurn ??= setImmediate(() => this.#endTurn())
    if (done === undefined) return
    this.#awaited++
    if (this.#awaited === 1 && !this.#isCrowded) this.write()
  }

  #endTurn(): void {
    this.#endOfTurn = undefined
    this.#isCrowded = this.#awaited > 1
    this.#awaited = 0
    this.write()
  }

  write(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    let failure: unknown
    try {
      this.#record(waiting)
      this.isStuck = false
    } catch (cause) {
      this.#waiting = stillToCome(waiting)
      this.isStuck = true
      failure = cause
    }
    for (const { done } of waiting) done?.(failure)
  }

  /** Writes what waits and takes nothing more: the descriptor's number may soon be that of another file. */
  close(): void {
    clearImmediate(this.#endOfTurn)
    this.write()
    this.#isClosed = true
  }

  #waitingFor(event: JournalEvent, done?: (failure?: unknown) => void): WaitingEvent {
    if (this.#isClosed) throw new Error("the host was closed")
    const timed = { ...event, at: this.#timeOf(event) }
    const json = jsonOf(timed)
    return done === undefined ? { event: timed, ...json } : { event: timed, ...json, done }
  }

  #record(waiting: ReadonlyArray<WaitingEvent>): void {
    // A file that was removed takes writes that nobody will read. That stops calls that begin, not those that have ended.
    if (!waiting.every(isEnd)) requireFile(this.#descriptor)
    let { count, prev } = this
    const lines: Array<Buffer> = []
    const recorded = waiting.map(({ event, json, replyJson }) => {
      const link = { seq: ++count, prev }
      const { line, hash } = sealedJson(json, link)
      lines.push(line)
      prev = hash
      return { event: { ...event, ...link }, replyJson }
    })
    this.#append(Buffer.concat(lines))
    this.count = count
    this.prev = prev
    this.#tell(recorded)
  }

  // One write for all lines. A partial one is cut off again, before the next write at the latest: no line is ever torn
  // in the middle of the record.
  #append(lines: Buffer): void {
    if (this.#isTorn) ftruncateSync(this.#descriptor, this.#size)
    this.#isTorn = true
    const written = writeSync(this.#descriptor, lines)
    if (written < lines.length) {
      ftruncateSync(this.#descriptor, this.#size)
      throw new Error("the disk is full")
    }
    this.#size += written
    this.#isTorn = false
  }

  // In the order of the record, even if a listener adds an event while it is told of another.
  #tell(recorded: ReadonlyArray<WrittenEvent>): void {
    const isTelling = this.#untold.length > 0
    for (const written of recorded) this.#untold.push(written)
    if (isTelling) return
    for (const { event, replyJson } of this.#untold) this.#onWritten(event, replyJson)
    this.#untold = []
  }
}

// The reply becomes JSON apart from the rest of its event. It is by far the longest part, and the session log needs its
// JSON, too. Also, JSON.stringify falls back to a slow path for a value with a concatenated string anywhere inside, such
// as a request's id.
const jsonOf = ({ reply, ...event }: TimedEvent): Pick<WaitingEvent, "json" | "replyJson"> => {
  const json = JSON.stringify(event)
  const replyJson: string | undefined = JSON.stringify(reply)
  return replyJson === undefined
    ? { json, replyJson }
    : { json: `${json.slice(0, -1)},"reply":${replyJson}}`, replyJson }
}

const isEnd = ({ event }: WaitingEvent): boolean => event.type === "tool_call_finished"

// After a failed write: events that nobody waits for are kept for the next one. But not the start of a call whose end
// failed with it: its caller is told that nothing was run.
const stillToCome = (waiting: ReadonlyArray<WaitingEvent>): Array<WaitingEvent> => {
  const over = new Set(waiting.filter(isEnd).map(({ event }) => event["step"]))
  return waiting.filter(({ event, done }) => done === undefined && !over.has(event["step"]))
}

const requireFile = (descriptor: number): void => {
  if (fstatSync(descriptor).nlink === 0) throw new Error("the file was removed")
}

// Several events share a millisecond: its text is made once.
const timeTeller = (): ((event: JournalEvent) => string) => {
  let last = Number.NaN
  let told = ""
  return ({ at }) => {
    const time = typeof at === "number" ? at : Date.now()
    if (time !== last) [last, told] = [time, new Date(time).toISOString()]
    return told
  }
}
