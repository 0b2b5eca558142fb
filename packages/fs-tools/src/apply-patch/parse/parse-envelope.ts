import { toolError } from "@haft/core"
import { TimeSlices } from "@haft/core"
import * as Effect from "effect/Effect"

import { type Hunk, type HunkLine, hunkLine, type PatchSection } from "../patch.ts"
import { anchorOf } from "../place/anchor.ts"
import { type ParseError, refuseEscaped, refuseLine } from "./line-error.ts"
import { patchPath } from "./patch-path.ts"

export const begin = "*** Begin Patch"
const end = "*** End Patch"
const endOfFile = "*** End of File"

/** True for a text that is meant as an envelope, well-formed or not. */
export const isEnvelope = (patch: string): boolean => firstLine(unwrapped(patch).text).trim() === begin

/** The line of a text at which an envelope begins, from 0, or -1. Lines of a diff have a sign before them. */
export const lineOfBegin = (patch: string): number => {
  const at = /^\*\*\* Begin Patch\s*?$/m.exec(patch)?.index
  return at === undefined ? -1 : patch.slice(0, at).split("\n").length - 1
}

/**
 * The one envelope in a text that has prose or code fences around it, with its line numbers kept. Undefined where
 * nothing is around it, where there are several, and where the rest holds parts of a diff.
 */
export const envelopeWithin = (text: string): string | undefined => {
  const { text: inner } = unwrapped(text)
  if (firstLine(inner).trim() === begin && lastLine(inner).trim() === end) return undefined
  const lines = text.split("\n")
  const [first, ...otherFirsts] = indexesOf(lines, begin)
  const [last, ...otherLasts] = indexesOf(lines, end)
  if (first === undefined || last === undefined || last < first) return undefined
  if (otherFirsts.length > 0 || otherLasts.length > 0) return undefined
  const around = lines.filter((_, index) => index < first || index > last)
  if (around.some((line) => partOfDiff.test(line))) return undefined
  return "\n".repeat(first) + lines.slice(first, last + 1).join("\n")
}

const partOfDiff = /^(?:diff --git |--- |\+\+\+ |@@|\*\*\* )/

const indexesOf = (lines: ReadonlyArray<string>, marker: string): ReadonlyArray<number> =>
  lines.flatMap((line, index) => (line.trimEnd() === marker ? index : []))

const firstLine = (text: string): string => {
  const end = text.indexOf("\n")
  return end === -1 ? text : text.slice(0, end)
}

const lastLine = (text: string): string => text.slice(text.lastIndexOf("\n") + 1)

/** Reads `*** Begin Patch … *** End Patch`, see envelope.grammar. It never looks at the disk. */
export const parseEnvelope = Effect.fnUntraced(function* (
  patch: string
): Effect.fn.Return<ReadonlyArray<PatchSection>, ParseError> {
  const { text, offset } = unwrapped(patch)
  if (firstLine(text).trim() !== begin) {
    yield* refuseEscaped(patch)
    return yield* toolError(
      "patch_parse_error",
      `the first line of the patch must be '${begin}'; nothing was changed`,
      {
        suggestion: `Put the sections between '${begin}' and '${end}'.`
      }
    )
  }
  const reader = new Reader(text.split("\n"), offset)
  yield* reader.pause
  reader.at = 1
  while (reader.value("Environment ID") !== undefined) reader.at++
  const sections: Array<PatchSection> = []
  while (reader.marker() !== end) {
    if (reader.isAtEnd) {
      return yield* toolError("patch_parse_error", `the last line of the patch must be '${end}'; nothing was changed`, {
        suggestion: "The patch may have been cut off: send all of it."
      })
    }
    if (reader.marker() === "") reader.at++
    else sections.push(yield* readSection(reader))
  }
  reader.at++
  while (reader.marker() === "" && !reader.isAtEnd) reader.at++
  if (!reader.isAtEnd) return yield* refuseLine(reader.patchLine, `there is more text after '${end}'`)
  return sections
})

/** The envelope without blank lines around it, and without the heredoc or the code fence that models like to put there. */
const unwrapped = (patch: string): { readonly text: string; readonly offset: number } => {
  const text = patch.trimEnd()
  const lead = /^\s*\n/.exec(text)?.[0] ?? ""
  const [first, last] = [firstLine(text.slice(lead.length)), lastLine(text).trim()]
  const offset = lead.split("\n").length - 1
  const heredoc = /<<-?\s*(['"]?)(\w+)\1\s*$/.exec(first)
  const isFenced = /^\s*```\w*\s*$/.test(first) && last === "```"
  const inner = lead.length + first.length + 1
  return (isFenced || (heredoc !== null && last === heredoc[2])) && text.lastIndexOf("\n") >= inner
    ? { text: text.slice(inner, text.lastIndexOf("\n")), offset: offset + 1 }
    : { text: text.slice(lead.length), offset }
}

class Reader {
  at = 0
  readonly #lines: ReadonlyArray<string>
  readonly #offset: number
  readonly #slices = new TimeSlices()
  constructor(lines: ReadonlyArray<string>, offset: number) {
    this.#lines = lines
    this.#offset = offset
  }
  get isAtEnd(): boolean {
    return this.at >= this.#lines.length
  }
  get isLastLine(): boolean {
    return this.at === this.#lines.length - 1
  }
  /** The line's index in the patch as it was sent. */
  get patchLine(): number {
    return this.at + this.#offset
  }
  get line(): string {
    const line = this.#lines[this.at] ?? ""
    return line.endsWith("\r") ? line.slice(0, -1) : line
  }
  /** Lets other work go on from time to time. */
  get pause(): Effect.Effect<void> {
    return this.#slices.isOver() ? this.#slices.pause : Effect.void
  }
  /** The line without stray spaces, as markers are compared. */
  marker(): string {
    return this.line.trim()
  }
  /** Value after `*** Name:`, or undefined. */
  value(name: string): string | undefined {
    const marker = this.marker()
    return marker.startsWith(`*** ${name}:`) ? marker.slice(name.length + 5).trim() : undefined
  }
}

const readSection = (reader: Reader): Effect.Effect<PatchSection, ParseError> => {
  const added = reader.value("Add File")
  if (added !== undefined) return readAdd(reader, added)
  const deleted = reader.value("Delete File")
  if (deleted !== undefined) {
    return Effect.map(readPath(reader, deleted), (path): PatchSection => ({ kind: "delete", path, hunks: [] }))
  }
  const updated = reader.value("Update File")
  if (updated !== undefined) return readUpdate(reader, updated)
  return refuseLine(
    reader.patchLine,
    `'${reader.marker()}' is no section; use '*** Add File: ', '*** Delete File: ' or '*** Update File: '`
  )
}

const readPath = (reader: Reader, path: string): Effect.Effect<string, ParseError> => {
  if (path === "") return refuseLine(reader.patchLine, "the path is missing")
  reader.at++
  return patchPath(path)
}

const readAdd = Effect.fnUntraced(function* (
  reader: Reader,
  given: string
): Effect.fn.Return<PatchSection, ParseError> {
  const path = yield* readPath(reader, given)
  const lines: Array<HunkLine> = []
  for (; reader.line.startsWith("+"); reader.at++) {
    lines.push(hunkLine("+", reader.line.slice(1)))
    yield* reader.pause
  }
  while (reader.marker() === "" && !reader.isAtEnd) reader.at++
  if (!isMarker(reader) && !reader.isAtEnd) {
    return yield* refuseLine(reader.patchLine, "every line of a new file begins with '+', an empty one too")
  }
  return { kind: "add", path, lines, executable: undefined }
})

const readUpdate = Effect.fnUntraced(function* (
  reader: Reader,
  given: string
): Effect.fn.Return<PatchSection, ParseError> {
  const start = reader.patchLine
  const path = yield* readPath(reader, given)
  const moved = reader.value("Move to")
  const target = moved === undefined ? undefined : yield* readPath(reader, moved)
  const hunks: Array<Hunk> = []
  while (!reader.isAtEnd && !isMarker(reader)) {
    hunks.push(yield* readHunk(reader))
    yield* reader.pause
  }
  // Blank lines before the next marker are no hunk of their own.
  while (hunks.length > 0 && hunks.at(-1)?.lines.every(({ isBare }) => isBare) === true) hunks.pop()
  if (hunks.length === 0 && target === undefined) {
    return yield* refuseLine(start, `the update of ${path} has no hunks`)
  }
  return { kind: "update", path, target, isCopy: false, executable: undefined, hunks }
})

const readHunk = Effect.fnUntraced(function* (reader: Reader): Effect.fn.Return<Hunk, ParseError> {
  const start = reader.patchLine
  const anchors: Array<string> = []
  let hasNumbers = false
  for (; reader.line.startsWith("@@"); reader.at++) {
    const anchor = anchorOf(reader.line)
    hasNumbers ||= /^@@ -\d/.test(reader.line)
    if (anchor !== "") anchors.push(anchor)
  }
  const lines: Array<HunkLine> = []
  for (; !reader.isAtEnd && !isMarker(reader) && !reader.line.startsWith("@@"); reader.at++) {
    const sign = reader.line[0]
    if (sign === " " || sign === "+" || sign === "-") lines.push(hunkLine(sign, reader.line.slice(1)))
    else if (sign === undefined) lines.push({ ...hunkLine(" ", ""), isBare: true })
    else if (reader.line.startsWith("***")) {
      return yield* refuseLine(
        reader.patchLine,
        `'${reader.line}' is no line of a hunk: it begins with ' ' (kept), '-' (removed), '+' (added) or '@@' (an anchor)`
      )
    } else lines.push({ ...hunkLine(" ", reader.line), isUnsigned: true })
  }
  const endsFile = reader.marker() === endOfFile
  if (endsFile) reader.at++
  if (lines.length === 0) return yield* refuseLine(start, "the hunk is empty")
  if (hasNumbers && anchors.length === 0 && lines.every(({ sign }) => sign === "+")) {
    return yield* refuseLine(
      start,
      "line numbers are not read here, and the hunk has nothing else to be placed by: begin it with the line above"
    )
  }
  return { place: { kind: "content", anchors, endsFile }, lines, patchLine: start + 1 }
})

const markers = [begin, end, endOfFile, "*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"]

/**
 * Markers may be indented, but one space and a marker may also be a context line: then it is one,
 * unless it ends the patch.
 */
const isMarker = (reader: Reader): boolean => {
  const text = reader.marker()
  if (reader.line.startsWith(" *") && !(text === end && reader.isLastLine)) return false
  return markers.some((marker) => (marker.endsWith(":") ? text.startsWith(marker) : text === marker))
}
