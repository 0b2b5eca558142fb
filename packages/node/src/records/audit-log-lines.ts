import { hash } from "node:crypto"
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

import type { JournalEvent } from "@haft/core"

import { newline } from "../workspace/content.ts"

/** An event as it stands in the file. */
export interface RecordedEvent extends JournalEvent {
  /** Counts the lines from 1. */
  readonly seq: number
  /** ISO time, UTC. */
  readonly at: string
  /** The hash of the line before. */
  readonly prev: string
}

/** Line with its own hash, which the next line names as its `prev`. */
export interface SealedEvent extends RecordedEvent {
  readonly hash: string
}

/** `prev` of the first line. */
export const firstLink: string = "0".repeat(64)

/** A line of the file, and the hash it ends with: without it, nobody would notice a change in the last line. */
export const sealedLine = ({ seq, prev, ...event }: RecordedEvent): SealedLine =>
  sealedJson(JSON.stringify(event), { seq, prev })

export interface SealedLine {
  readonly line: Buffer
  readonly hash: string
}

/** Encodes an event that is JSON already. */
export const sealedJson = (json: string, { seq, prev }: Pick<RecordedEvent, "seq" | "prev">): SealedLine => {
  const link = `,"seq":${seq},"prev":"${prev}"`
  // Encoded once, for the hash and for the file.
  const linkAt = Buffer.byteLength(json) - 1
  const end = linkAt + link.length
  const line = Buffer.allocUnsafe(end + sealLength + 1)
  line.write(json)
  line.write(link, linkAt, "latin1")
  const seal = hashOf(line.subarray(0, end))
  line.write(`,"hash":"${seal}"}\n`, end, "latin1")
  return { line, hash: seal }
}

const hashOf = (content: Uint8Array | string): string => hash("sha256", content, "hex")

/** How a line ends after what its hash is made of. */
const sealLength = `,"hash":"${firstLink}"}`.length

/** The events of a file. A last line that a crash cut short is left out. */
export const readJournal = (file: string): ReadonlyArray<SealedEvent> =>
  wholeLines(readFileSync(file)).map((line) => JSON.parse(line.toString()) as SealedEvent)

export type Verification =
  | {
      readonly intact: true
      readonly events: number
      readonly tornTail: boolean
      /** False while the run goes on. After its host died the next one ends it. */
      readonly ended: boolean
    }
  | { readonly intact: false; readonly line: number; readonly problem: string }

/** Verifies the hash chain of a record: no line changed, none missing, none inserted. */
export const verifyJournal = (file: string): Verification => {
  const content = readFileSync(file)
  const lines = wholeLines(content)
  let prev = firstLink
  for (const [index, line] of lines.entries()) {
    const seal = hashOf(line.subarray(0, -sealLength))
    const problem = problemOf(line, { seq: index + 1, prev, hash: seal })
    if (problem !== undefined) return { intact: false, line: index + 1, problem }
    prev = seal
  }
  const end = readEnd(file)
  const missing = whatIsMissing(lines.length, prev, end)
  if (missing !== undefined) return { intact: false, ...missing }
  if (end === undefined && !isOpen(file)) {
    return { intact: false, line: lines.length + 1, problem: "is where the end of the run should be told, and is not" }
  }
  const tornTail = content.length > 0 && content.at(-1) !== newline
  return { intact: true, events: lines.length, tornTail, ended: end !== undefined }
}

/** How many lines a run ended with, and the hash of the last: without it, nobody would notice that the last are missing. */
interface RunEnd {
  readonly events: number
  readonly hash: string
}

const endFile = (file: string): string => join(dirname(file), "end.json")

/** Tells beside a record that it has ended, and how. */
export const writeEnd = (file: string, end: RunEnd): void =>
  writeFileSync(endFile(file), `${JSON.stringify(end)}\n`, { mode: 0o600 })

const readEnd = (file: string): RunEnd | undefined => {
  if (!existsSync(endFile(file))) return undefined
  try {
    return JSON.parse(readFileSync(endFile(file), "utf8")) as RunEnd
  } catch {
    return undefined // cut short when the host died: the next one writes it anew
  }
}

const isOpen = (file: string): boolean => {
  const run = dirname(file)
  return existsSync(join(run, "../../open-runs", basename(run)))
}

const whatIsMissing = (events: number, hash: string, end: RunEnd | undefined) => {
  if (end === undefined || (end.events === events && end.hash === hash)) return undefined
  if (end.events > events) {
    const count = end.events - events
    return { line: events + 1, problem: count === 1 ? "is missing" : `is missing, and ${count - 1} more after it` }
  }
  return { line: end.events + (end.events < events ? 1 : 0), problem: "is not how the run ended" }
}

/** Cuts a last line that is not whole, and says where the chain goes on. */
export const repairTail = (file: string): { readonly seq: number; readonly prev: string } => {
  const content = readFileSync(file)
  const end = content.lastIndexOf(newline) + 1
  if (end < content.length) truncateSync(file, end)
  const lines = wholeLines(content)
  const last = lines.at(-1)
  return { seq: lines.length, prev: last === undefined ? firstLink : hashOf(last.subarray(0, -sealLength)) }
}

/** A call that was started and has no end. */
export interface UnfinishedCall {
  readonly started: RecordedEvent
  /** True if a person was being asked. */
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

const problemOf = (line: Buffer, expected: Pick<SealedEvent, "seq" | "prev" | "hash">): string | undefined => {
  let event: Partial<SealedEvent>
  try {
    event = JSON.parse(line.toString()) as Partial<SealedEvent>
  } catch {
    return "is not JSON"
  }
  if (event.prev !== expected.prev) return "does not follow from the line before"
  if (event.seq !== expected.seq) return `has the number ${String(event.seq)}`
  return event.hash === expected.hash ? undefined : "is not what was written"
}

const wholeLines = (content: Buffer): Array<Buffer> => {
  const lines: Array<Buffer> = []
  for (let start = 0; ;) {
    const end = content.indexOf(newline, start)
    if (end < 0) return lines
    lines.push(content.subarray(start, end))
    start = end + 1
  }
}
