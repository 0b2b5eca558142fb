import { hash } from "node:crypto"
import { readFileSync, truncateSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

/** An event as it stands in the file. */
export interface RecordedEvent extends JournalEvent {
  /** Counts the lines from 1. */
  readonly seq: number
  /** ISO time, UTC. */
  readonly at: string
  /** The hash of the line before. */
  readonly prev: string
}

/** What the first line names as the one before it. */
export const firstLink: string = "0".repeat(64)

export const lineOf = (event: RecordedEvent): Buffer => Buffer.from(`${JSON.stringify(event)}\n`)

/** The hash that the next line carries. The newline is no part of it. */
export const linkOf = (line: Uint8Array): string =>
  hash("sha256", line.at(-1) === 10 ? line.subarray(0, -1) : line, "hex")

/** The events of a file. A last line that a crash cut short is left out. */
export const readJournal = (file: string): ReadonlyArray<RecordedEvent> =>
  wholeLines(readFileSync(file)).map((line) => JSON.parse(line.toString()) as RecordedEvent)

export type Verification =
  | { readonly intact: true; readonly events: number; readonly tornTail: boolean }
  | { readonly intact: false; readonly line: number; readonly problem: string }

/** Whether every line of a record is what was written: none changed, none missing, none put in between. */
export const verifyJournal = (file: string): Verification => {
  const content = readFileSync(file)
  const lines = wholeLines(content)
  let prev = firstLink
  for (const [index, line] of lines.entries()) {
    const problem = problemOf(line, index + 1, prev)
    if (problem !== undefined) return { intact: false, line: index + 1, problem }
    prev = linkOf(line)
  }
  return { intact: true, events: lines.length, tornTail: content.length > 0 && content.at(-1) !== 10 }
}

/** Cuts a last line that is not whole, and says where the chain goes on. */
export const repairTail = (file: string): { readonly seq: number; readonly prev: string } => {
  const content = readFileSync(file)
  const end = content.lastIndexOf(10) + 1
  if (end < content.length) truncateSync(file, end)
  const lines = wholeLines(content)
  const last = lines.at(-1)
  return { seq: lines.length, prev: last === undefined ? firstLink : linkOf(last) }
}

/** A call that was started and has no end. */
export interface UnfinishedCall {
  readonly started: RecordedEvent
  /** Whether a person was being asked. */
  readonly isAsking: boolean
}

export const unfinishedCalls = (file: string): ReadonlyArray<UnfinishedCall> => {
  const open = new Map<unknown, UnfinishedCall>()
  for (const event of readJournal(file)) {
    const { type, step } = event as { readonly type: string; readonly step?: unknown }
    const call = open.get(step)
    if (type === "tool_call_started") open.set(step, { started: event, isAsking: false })
    else if (type === "tool_call_finished") open.delete(step)
    else if (call !== undefined && type === "approval_requested") open.set(step, { ...call, isAsking: true })
    else if (call !== undefined && type === "approval_decided") open.set(step, { ...call, isAsking: false })
  }
  return [...open.values()]
}

const problemOf = (line: Buffer, seq: number, prev: string): string | undefined => {
  let event: Partial<RecordedEvent>
  try {
    event = JSON.parse(line.toString()) as Partial<RecordedEvent>
  } catch {
    return "is not JSON"
  }
  if (event.prev !== prev) return "does not follow from the line before"
  return event.seq === seq ? undefined : `has the number ${String(event.seq)}`
}

const wholeLines = (content: Buffer): Array<Buffer> => {
  const lines: Array<Buffer> = []
  for (let start = 0; ;) {
    const end = content.indexOf(10, start)
    if (end < 0) return lines
    lines.push(content.subarray(start, end))
    start = end + 1
  }
}
