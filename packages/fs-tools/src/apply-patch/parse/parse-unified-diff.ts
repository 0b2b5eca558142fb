import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { type Hunk, type HunkLine, hunkLine, type Section } from "../patch.ts"
import { anchorOf } from "../place/anchor.ts"
import { readFileHeader, startsFile } from "./file-header.ts"
import { binaryPatch, type ParseError, refuseEscaped, refuseLine } from "./line-error.ts"

/** Reads a unified diff, plain or from git. It never looks at the disk. `refuse` says that a text is none. */
export const parseUnifiedDiff = Effect.fnUntraced(function* (
  diff: string,
  refuse: () => Effect.Effect<never, ParseError> = refuseOtherText
): Effect.fn.Return<ReadonlyArray<Section>, ParseError> {
  const lines = linesOf(diff)
  const sections: Array<Section> = []
  for (let at = 0; at < lines.length;) {
    if (!startsFile(lines, at)) {
      yield* refuseForeign(lines, at)
      at++
      continue
    }
    const header = yield* readFileHeader(lines, at)
    const { hunks, next } = yield* readHunks(lines, header.next)
    const section = header.section(hunks)
    if (section === undefined) {
      return yield* refuseLine(header.start, `${header.name} has a header but no hunks`)
    }
    sections.push(section)
    at = next
  }
  if (sections.length > 0) return sections
  yield* refuseEscaped(diff)
  return yield* refuse()
})

const refuseOtherText = (): Effect.Effect<never, ParseError> =>
  toolError(
    "patch_parse_error",
    "the text is no unified diff: it has no '--- ' and '+++ ' lines; nothing was changed",
    { suggestion: "Send a diff such as `diff -u` or `git diff` prints, with file headers and hunks." }
  )

/** The patch's lines; a patch that came with CRLF throughout loses its carriage returns. */
const linesOf = (diff: string): ReadonlyArray<string> => {
  const lines = diff.split("\n")
  if (lines.at(-1) === "") lines.pop()
  const headers = lines.filter((line) => /^(--- |\+\+\+ |@@)/.test(line))
  const cameWithCarriageReturns = headers.length > 0 && headers.every((line) => line.endsWith("\r"))
  return cameWithCarriageReturns ? lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)) : lines
}

const refuseForeign = (
  lines: ReadonlyArray<string>,
  at: number
): Effect.Effect<void, ToolError<"patch_parse_error">> => {
  const line = lines[at] ?? ""
  if (line.startsWith("@@")) return refuseLine(at, "a hunk without '--- ' and '+++ ' lines before it")
  if (/^Binary files .* differ\r?$/.test(line)) return refuseLine(at, binaryPatch)
  if (/^\*{15}/.test(line)) return refuseLine(at, "this is a context diff; of diffs, only unified ones are read")
  if (/^\d+(,\d+)?[acd](\d+(,\d+)?)?$/.test(line)) {
    return refuseLine(at, "this is an ed script or a plain diff; of diffs, only unified ones are read")
  }
  return Effect.void
}

const readHunks = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, from: number) {
  const hunks: Array<Hunk> = []
  let at = from
  while (at < lines.length && (lines[at] ?? "").startsWith("@@")) {
    const start = at
    const range = yield* readRange(lines[at] ?? "", at)
    const body = bodyByCount(lines, at + 1, range) ?? { ...bodyByShape(lines, at + 1), isExact: false }
    if (!body.isExact) yield* refuseRest(lines, body.next)
    if (body.lines.length === 0) return yield* refuseLine(at, "the hunk is empty")
    if (body.lines.every(({ sign }) => sign === " ")) return yield* refuseLine(at, "the hunk changes nothing")
    hunks.push({ place: placeOf(range, body), lines: body.lines, patchLine: start + 1 })
    at = body.next
    let next = at
    while (lines[next]?.trim() === "") next++
    if (lines[next]?.startsWith("@@") === true) at = next
  }
  return { hunks, next: at }
})

/** What may follow a body whose end no header tells: the end, another hunk or file, and what tools and models put there. */
const follows = /^(@@|diff |Index: |={3}|-- ?$|```|Only in |From )/

/** A line that is no part of a hunk where it should go on: what comes after it would be lost. */
const refuseRest = (lines: ReadonlyArray<string>, at: number): Effect.Effect<void, ToolError<"patch_parse_error">> => {
  const line = lines[at]
  if (line === undefined || startsFile(lines, at) || follows.test(line)) return Effect.void
  return refuseLine(at, `'${line.slice(0, 100)}' is no line of a hunk: it begins with neither ' ', '-' nor '+'`)
}

type Range =
  | { readonly oldStart: number; readonly oldCount: number; readonly newCount: number }
  | { readonly heading: string }

const readRange = (header: string, at: number): Effect.Effect<Range, ToolError<"patch_parse_error">> => {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header)
  if (found !== null) {
    const [, oldStart = "0", oldCount = "1", , newCount = "1"] = found
    return Effect.succeed({ oldStart: Number(oldStart), oldCount: Number(oldCount), newCount: Number(newCount) })
  }
  if (header.startsWith("@@@")) {
    return refuseLine(at, "this is the combined diff of a merge; send the diff against one of its sides")
  }
  if (/^@@\s*-/.test(header)) {
    return refuseLine(at, `'${header.trim()}' is no hunk header; it looks like '@@ -12,3 +12,4 @@'`)
  }
  return Effect.succeed({ heading: anchorOf(header).trim() })
}

const placeOf = (range: Range, body: Body): Hunk["place"] => {
  if ("heading" in range) {
    return { kind: "content", anchors: range.heading === "" ? [] : [range.heading], endsFile: false }
  }
  const hasOldLines = body.lines.some(({ sign }) => sign !== "+")
  // `-N,0` stands after line N, everything else begins at line N.
  const line = hasOldLines
    ? Math.max(0, range.oldStart - 1)
    : range.oldCount === 0
      ? range.oldStart
      : range.oldStart - 1
  return { kind: "line", line: Math.max(0, line), isExact: body.isExact }
}

interface Body {
  readonly lines: ReadonlyArray<HunkLine>
  readonly next: number
  readonly isExact: boolean
}

/** The body as the header counts it, or undefined when the counts can't be right. */
const bodyByCount = (lines: ReadonlyArray<string>, from: number, range: Range): Body | undefined => {
  if ("heading" in range) return undefined
  const body: Array<HunkLine> = []
  let { oldCount, newCount } = range
  let at = from
  while (oldCount > 0 || newCount > 0) {
    const read = bodyLine(lines[at])
    if (read === undefined) return undefined
    if (read !== "no newline") {
      if (read.sign !== "+") oldCount--
      if (read.sign !== "-") newCount--
      if (oldCount < 0 || newCount < 0) return undefined
      body.push(read)
    } else if (!markNoNewline(body)) return undefined
    at++
  }
  if (lines[at]?.startsWith("\\") === true && markNoNewline(body)) at++
  const after = lines[at]
  // What follows must not look like more of the hunk: then the counts were too small. `-- ` signs a mail.
  const continues =
    after !== undefined &&
    /^[ +-]/.test(after) &&
    !/^-- ?$/.test(after) &&
    !startsFile(lines, at) &&
    after.trim() !== ""
  return continues ? undefined : { lines: body, next: at, isExact: true }
}

/** The body as far as lines look like one, for headers that miscount or do not count at all. */
const bodyByShape = (lines: ReadonlyArray<string>, from: number): Omit<Body, "isExact"> => {
  const body: Array<HunkLine> = []
  let at = from
  for (; at < lines.length && !startsFile(lines, at); at++) {
    const read = bodyLine(lines[at])
    if (read === undefined || (read === "no newline" && !markNoNewline(body))) break
    if (read !== "no newline") body.push(read)
  }
  while (body.at(-1)?.isBare === true) body.pop()
  return { lines: body, next: at }
}

const bodyLine = (line: string | undefined): HunkLine | "no newline" | undefined => {
  if (line === undefined) return undefined
  const sign = line[0]
  if (sign === "\\") return "no newline"
  if (sign === " " || sign === "+" || sign === "-") return hunkLine(sign, line.slice(1))
  return line === "" || line === "\r" ? { ...hunkLine(" ", line), isBare: true } : undefined
}

const markNoNewline = (body: Array<HunkLine>): boolean => {
  const last = body.pop()
  if (last === undefined) return false
  body.push({ ...last, noNewline: true })
  return true
}
