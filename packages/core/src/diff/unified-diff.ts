import * as Effect from "effect/Effect"

import type { Content } from "../services/change-plan.ts"
import { concatBytes } from "../text/concat-bytes.ts"
import { countNewlines } from "../text/count-newlines.ts"
import { TimeSlices } from "../time-slices.ts"
import { type LineStep, lineSteps } from "./line-steps.ts"

/** One file before and after; a path is undefined where it is not there. */
export interface FileVersions {
  readonly oldPath: string | undefined
  readonly newPath: string | undefined
  readonly before?: Content | undefined
  readonly after?: Content | undefined
}

const contextLines = 3

/**
 * A change of one file as a unified diff with git's `a/` and `b/` prefixes; empty when no line differs, undefined when
 * one of the two is binary. Only the lines around what differs are decoded.
 */
export const unifiedDiff = Effect.fnUntraced(function* ({
  oldPath,
  newPath,
  before = empty,
  after = empty
}: FileVersions): Effect.fn.Return<string | undefined> {
  const versions = textVersions(before, after)
  if (versions === undefined) return undefined
  const hunks = (yield* hunksBetween(versions, contextLines)).map(hunkText).join("")
  if (hunks === "" && oldPath === newPath) return ""
  const isMoved = oldPath !== undefined && newPath !== undefined && oldPath !== newPath
  const renamed = isMoved ? `rename from ${quoted(oldPath)}\nrename to ${quoted(newPath)}\n` : ""
  if (hunks === "" && isMoved) return renamed
  const names = [
    oldPath === undefined ? "/dev/null" : quoted(`a/${oldPath}`),
    newPath === undefined ? "/dev/null" : quoted(`b/${newPath}`)
  ]
  return `${renamed}--- ${names[0]}\n+++ ${names[1]}\n${hunks}`
})

const empty = new Uint8Array()

// As git does: a name with control characters, a quote or a backslash stands in quotes, with C's escapes.
const quoted = (name: string): string =>
  /[\p{Cc}"\\]/u.test(name)
    ? `"${name.replace(/[\p{Cc}"\\]/gu, (character) => escapes[character] ?? octal(character))}"`
    : name

const escapes: Readonly<Record<string, string>> = {
  "\n": String.raw`\n`,
  "\t": String.raw`\t`,
  "\r": String.raw`\r`,
  '"': String.raw`\"`,
  "\\": String.raw`\\`
}

const octal = (character: string): string =>
  [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")

type Encoding = "utf-8" | "utf-16le" | "utf-16be"

/** Two versions of a text, as bytes of one encoding. */
interface TextVersions {
  readonly old: Uint8Array
  /** In pieces as they are: a copy of a large file would double its memory. */
  readonly now: ReadonlyArray<Uint8Array>
  readonly encoding: Encoding
}

/** Both versions in one encoding; undefined when one is binary. A version in another encoding is converted. */
const textVersions = (before: Content, after: Content): TextVersions | undefined => {
  const old = before instanceof Uint8Array ? before : concatBytes(before)
  const now = after instanceof Uint8Array ? [after] : after
  const [oldEncoding, newEncoding] = [encodingOf(old), encodingOf(sliceOf(now, 0, 4))]
  if (isBinary([old], oldEncoding) || isBinary(now, newEncoding)) return undefined
  if (old.length === 0) return { old, now, encoding: newEncoding }
  if (oldEncoding === newEncoding || now.every(({ length }) => length === 0)) return { old, now, encoding: oldEncoding }
  return { old: inUtf8(old, oldEncoding), now: [inUtf8(concatBytes(now), newEncoding)], encoding: "utf-8" }
}

/** Which encoding the byte order mark tells of. That of UTF-32 begins like one of UTF-16 and is none. */
const encodingOf = (bytes: Uint8Array): Encoding => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  return isLittle && !(bytes[2] === 0 && bytes[3] === 0) ? "utf-16le" : "utf-8"
}

/** True for content with a NUL character, which no text has. */
const isBinary = (pieces: ReadonlyArray<Uint8Array>, encoding: Encoding): boolean => {
  if (encoding === "utf-8") return pieces.some((piece) => piece.includes(0))
  const aligned = pieces.every(({ length }) => length % 2 === 0) ? pieces : [concatBytes(pieces)]
  return aligned.some(hasEmptyPair)
}

const hasEmptyPair = (bytes: Uint8Array): boolean => {
  for (let at = 0; at + 1 < bytes.length; at += 2) if (bytes[at] === 0 && bytes[at + 1] === 0) return true
  return false
}

const inUtf8 = (bytes: Uint8Array, encoding: Encoding): Uint8Array =>
  encoding === "utf-8" ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes))

/** A stretch of a unified diff, with the lines around what differs. */
export interface DiffHunk {
  /** From 1; the line before it where the hunk has none. */
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** Each with its sign, ` `, `-` or `+`, and without its newline. */
  readonly lines: ReadonlyArray<string>
}

/** The hunks of a unified diff between two versions of a file; undefined when one of them is binary. */
export const diffHunks = (
  before: Content,
  after: Content,
  { context = contextLines }: { readonly context?: number } = {}
): Effect.Effect<ReadonlyArray<DiffHunk> | undefined> => {
  const versions = textVersions(before, after)
  return versions === undefined ? Effect.succeed(undefined) : hunksBetween(versions, context)
}

const hunksBetween = Effect.fnUntraced(function* (
  versions: TextVersions,
  context: number
): Effect.fn.Return<ReadonlyArray<DiffHunk>> {
  const slices = new TimeSlices()
  const { old, now, encoding } = versions
  const newLength = lengthOf(now)
  const { start: differs, end: oldEnd } = differenceBetween(versions)
  if (differs === old.length && differs === newLength) return []
  // From some lines above to some lines below what differs.
  const start = startOfContext(versions, differs, context)
  const end = endOfContext(versions, oldEnd, context)
  const lines = yield* linesOf(decode(old.subarray(start, end), encoding, start), slices)
  const added = yield* linesOf(decode(sliceOf(now, start, newLength - (old.length - end)), encoding, start), slices)
  const first = newlinesBefore(versions, start)
  const groups: Array<Array<LineStep>> = []
  for (const step of lineSteps(lines, added)) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && step.oldLine - (last.oldLine + last.removed) <= 2 * context) groups.at(-1)?.push(step)
    else groups.push([step])
  }
  const hunks: Array<DiffHunk> = []
  for (const group of groups) {
    const hunk = yield* hunkOf(lines, added, group, { firstLine: first, context, slices })
    if (hunk !== undefined) hunks.push(hunk)
  }
  return hunks
})

const hunkOf = Effect.fnUntraced(function* (
  old: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  steps: ReadonlyArray<LineStep>,
  { firstLine, context, slices }: { readonly firstLine: number; readonly context: number; readonly slices: TimeSlices }
): Effect.fn.Return<DiffHunk | undefined> {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) return undefined
  const lead = Math.min(context, first.oldLine)
  const trail = Math.min(context, old.length - last.oldLine - last.removed)
  const body: Array<string> = []
  const print = function* (sign: string, lines: ReadonlyArray<string>, from: number, to: number) {
    for (let at = from; at < to; at++) {
      if (slices.isOver()) yield* slices.pause
      const line = lines[at] ?? ""
      if (line.endsWith("\n")) body.push(sign + line.slice(0, -1))
      else body.push(sign + line, "\\ No newline at end of file")
    }
  }
  let line = first.oldLine - lead
  for (const { oldLine, removed, newLine, added } of steps) {
    yield* print(" ", old, line, oldLine)
    yield* print("-", old, oldLine, oldLine + removed)
    yield* print("+", now, newLine, newLine + added)
    line = oldLine + removed
  }
  yield* print(" ", old, line, line + trail)
  const oldStart = firstLine + first.oldLine - lead
  const newStart = firstLine + first.newLine - lead
  const oldLines = firstLine + last.oldLine + last.removed + trail - oldStart
  const newLines = firstLine + last.newLine + last.added + trail - newStart
  return {
    oldStart: oldLines === 0 ? oldStart : oldStart + 1,
    oldLines,
    newStart: newLines === 0 ? newStart : newStart + 1,
    newLines,
    lines: body
  }
})

const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): string =>
  `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.join("\n")}\n`

const range = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)

const newline = 10

/** Where the line begins that the given number of lines lie between and `changed`. */
const startOfContext = ({ old, encoding }: TextVersions, changed: number, context: number): number => {
  let start = changed
  for (let lines = 0; lines <= context; lines++) {
    const end = start === 0 ? 0 : lineBefore(old, encoding, lines === 0 ? start : start - unitOf(encoding))
    if (end === 0) return 0
    start = end
  }
  return start
}

/** The end of the last newline that ends at or before `from`; 0 where there is none. */
const lineBefore = (bytes: Uint8Array, encoding: Encoding, from: number): number => {
  for (let at = from; at > 0;) {
    const found = bytes.lastIndexOf(newline, at - 1)
    if (found === -1) return 0
    const end = newlineEnd(bytes, encoding, found)
    if (end !== undefined && end <= from) return end
    at = found
  }
  return 0
}

const endOfContext = ({ old, encoding }: TextVersions, changed: number, context: number): number => {
  let end = changed
  for (let lines = 0; lines <= context; lines++) {
    const next = lineAfter(old, encoding, end)
    if (next === undefined) return old.length
    end = next
  }
  return end
}

/** The end of the first newline from `from` on. */
const lineAfter = (bytes: Uint8Array, encoding: Encoding, from: number): number | undefined => {
  for (let found = bytes.indexOf(newline, from); found !== -1; found = bytes.indexOf(newline, found + 1)) {
    const end = newlineEnd(bytes, encoding, found)
    if (end !== undefined) return end
  }
  return undefined
}

/** Where the newline with its byte 10 at this offset ends; undefined where that byte is part of another character. */
const newlineEnd = (bytes: Uint8Array, encoding: Encoding, at: number): number | undefined => {
  if (encoding === "utf-8") return at + 1
  if (encoding === "utf-16be") return at % 2 === 1 && bytes[at - 1] === 0 ? at + 1 : undefined
  return at % 2 === 0 && bytes[at + 1] === 0 ? at + 2 : undefined
}

const newlinesBefore = ({ old, encoding }: TextVersions, end: number): number => {
  if (encoding === "utf-8") return countNewlines(old.subarray(0, end))
  let count = 0
  for (
    let next = lineAfter(old, encoding, 0);
    next !== undefined && next <= end;
    next = lineAfter(old, encoding, next)
  ) {
    count++
  }
  return count
}

const unitOf = (encoding: Encoding): number => (encoding === "utf-8" ? 1 : 2)

/** The lines of a text, each with its newline. */
const linesOf = Effect.fnUntraced(function* (
  text: string,
  slices: TimeSlices
): Effect.fn.Return<ReadonlyArray<string>> {
  const lines: Array<string> = []
  for (let start = 0; start < text.length;) {
    if (slices.isOver()) yield* slices.pause
    const newline = text.indexOf("\n", start)
    const end = newline === -1 ? text.length : newline + 1
    lines.push(text.slice(start, end))
    start = end
  }
  return lines
})

/** UTF-8, or Latin-1 where it can't be that; or UTF-16, without the byte order mark at the beginning of a file. */
const decode = (bytes: Uint8Array, encoding: Encoding, offset: number): string => {
  if (encoding !== "utf-8") return new TextDecoder(encoding, { ignoreBOM: offset > 0 }).decode(bytes)
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
  }
}

/** Where the old bytes begin and cease to differ from the new ones, at the bounds of characters' code units. */
const differenceBetween = ({ old, now, encoding }: TextVersions): { readonly start: number; readonly end: number } => {
  const most = Math.min(old.length, lengthOf(now))
  let start = 0
  for (const piece of now) {
    let at = 0
    while (at < piece.length && start < most && old[start] === piece[at]) {
      start++
      at++
    }
    if (at < piece.length) break
  }
  start -= start % unitOf(encoding)
  let same = 0
  for (const piece of now.toReversed()) {
    let at = piece.length
    while (at > 0 && same < most - start && old[old.length - 1 - same] === piece[at - 1]) {
      same++
      at--
    }
    if (at > 0) break
  }
  same -= same % unitOf(encoding)
  return { start, end: old.length - same }
}

const lengthOf = (pieces: ReadonlyArray<Uint8Array>): number => pieces.reduce((sum, { length }) => sum + length, 0)

/** A stretch of bytes that lie in pieces; a copy only where it spans several. */
const sliceOf = (pieces: ReadonlyArray<Uint8Array>, start: number, end: number): Uint8Array => {
  const within: Array<Uint8Array> = []
  let offset = 0
  for (const piece of pieces) {
    if (offset < end && offset + piece.length > start) {
      within.push(piece.subarray(Math.max(0, start - offset), Math.min(piece.length, end - offset)))
    }
    offset += piece.length
  }
  return concatBytes(within)
}
