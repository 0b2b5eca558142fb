import { type ToolError, toolError } from "@haft/core"
import { TimeSlices } from "@haft/core"
import * as Effect from "effect/Effect"

import { type Hunk, type HunkLine, hunkLine, type PatchSection } from "../patch.ts"
import { anchorOf, isPlaceholderHeader } from "../place/anchor.ts"
import { readFileHeader, startsFile } from "./file-header.ts"
import { type ParseError, refuseEscaped, refuseLine } from "./line-error.ts"
import { checkLink } from "./patch-path.ts"

export interface UnifiedDiffOptions {
  /** Says that a text is no patch. */
  readonly refuse?: () => Effect.Effect<never, ParseError>
  /** Takes a last hunk that ends in a change although its header counts context after it. */
  readonly mayLackContext?: boolean
}

/** Reads a unified diff, plain or from git. It never looks at the disk. */
export const parseUnifiedDiff = Effect.fnUntraced(function* (
  diff: string,
  { refuse = refuseOtherText, mayLackContext = false }: UnifiedDiffOptions = {}
): Effect.fn.Return<ReadonlyArray<PatchSection>, ParseError> {
  const lines = linesOf(diff)
  yield* new TimeSlices().between(lines.length)
  const sections: Array<PatchSection> = []
  for (let at = 0; at < lines.length;) {
    if (!startsFile(lines, at)) {
      yield* refuseForeign(lines, at)
      at++
      continue
    }
    const header = yield* readFileHeader(lines, at)
    const { hunks, next } = yield* readHunks(lines, header.next, mayLackContext)
    const section = header.section(hunks)
    if (section === undefined) {
      return yield* refuseLine(header.start, `${header.name} has a header but no hunks`)
    }
    yield* checkLink(section)
    sections.push(section)
    at = next
  }
  if (sections.length > 0) return sections
  yield* refuseEscaped(diff)
  return yield* refuse()
})

const refuseOtherText = (): Effect.Effect<never, ParseError> =>
  toolError("patch_parse_error", "not a unified diff: it has no '--- ' and '+++ ' lines; nothing was changed", {
    suggestion: "Send a diff such as `diff -u` or `git diff` prints, with file headers and hunks."
  })

/** The patch's lines; a patch that came with colors, or with CRLF throughout, loses those. */
const linesOf = (diff: string): ReadonlyArray<string> => {
  const isColored = coloredHeader.test(diff)
  const lines = (isColored ? diff.replace(color, "") : diff).split("\n")
  if (lines.at(-1) === "") lines.pop()
  const headers = lines.filter((line) => /^(diff --git |--- |\+\+\+ |@@)/.test(line))
  const cameWithCarriageReturns = headers.length > 0 && headers.every((line) => line.endsWith("\r"))
  return cameWithCarriageReturns ? lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)) : lines
}

// oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
const color = /\u001B\[[0-9;]*[mK]/g
// oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
const coloredHeader = /^(?:\u001B\[[0-9;]*[mK])+(?:diff --git |--- |\+\+\+ |@@)/m

const refuseForeign = (
  lines: ReadonlyArray<string>,
  at: number
): Effect.Effect<void, ToolError<"patch_parse_error">> => {
  const line = lines[at] ?? ""
  if (line.startsWith("@@")) return refuseLine(at, "a hunk without '--- ' and '+++ ' lines before it")
  if (/^Binary files .* differ\r?$/.test(line)) {
    return refuseLine(at, "the patch says that a binary file differs, but not how; make it by `git diff --binary`")
  }
  if (/^\*{15}/.test(line)) return refuseLine(at, "this is a context diff; of diffs, only unified ones are read")
  if (/^\d+(,\d+)?[acd](\d+(,\d+)?)?$/.test(line)) {
    return refuseLine(at, "this is an ed script or a plain diff; of diffs, only unified ones are read")
  }
  return Effect.void
}

const readHunks = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, from: number, mayLackContext: boolean) {
  const hunks: Array<Hunk> = []
  const slices = new TimeSlices()
  let at = from
  while (at < lines.length && (lines[at] ?? "").startsWith("@@")) {
    if (slices.isOver()) yield* slices.pause
    const start = at
    const range = yield* readRange(lines[at] ?? "", at)
    const body = yield* readBody(lines, at + 1, range)
    if (body.lines.length === 0) return yield* refuseLine(at, "the hunk is empty")
    if (body.lines.every(({ sign }) => sign === " ")) return yield* refuseLine(at, "the hunk changes nothing")
    if (!body.isExact) yield* refuseCutOff(lines, body, range, mayLackContext)
    hunks.push({ place: placeOf(range, body), lines: body.lines, patchLine: start + 1 })
    at = body.next
    let next = at
    while (lines[next]?.trim() === "") next++
    if (lines[next]?.startsWith("@@") === true) at = next
  }
  return { hunks, next: at }
})

/** The body as its header counts it, else as far as lines look like one; context lines may have lost their sign. */
const readBody = (
  lines: ReadonlyArray<string>,
  from: number,
  range: Range
): Effect.Effect<Body, ToolError<"patch_parse_error">> => {
  const counted = bodyByCount(lines, from, range, "signed")
  if (counted !== undefined) return Effect.succeed(counted)
  const shaped = { ...bodyByShape(lines, from), isExact: false }
  if (mayFollow(lines, shaped.next) && !losesLines(lines, shaped, range)) return Effect.succeed(shaped)
  const unsigned = bodyByCount(lines, from, range, "unsigned") ?? unsignedBody(lines, from, shaped.next)
  return unsigned === undefined
    ? refuseLine(
        shaped.next,
        `'${(lines[shaped.next] ?? "").slice(0, 100)}' is no line of a hunk: it begins with neither ' ', '-' nor '+'`
      )
    : Effect.succeed(unsigned)
}

/** True when the header counts more lines and changes follow behind a line that ends the body. */
const losesLines = (lines: ReadonlyArray<string>, body: Body, range: Range): boolean => {
  const { old, now } = missingLines(body, range)
  if (old <= 0 && now <= 0) return false
  for (let at = body.next; at < lines.length; at++) {
    const line = lines[at] ?? ""
    if (startsFile(lines, at) || line.startsWith("@@")) return false
    if (/^[-+](?!-- ?$)/.test(line)) return true
  }
  return false
}

/** Lines up to the last one that changes something before the next header; those without a sign are context. */
const unsignedBody = (lines: ReadonlyArray<string>, from: number, stop: number): Body | undefined => {
  let next = from
  const body: Array<HunkLine> = []
  for (let at = from; at < lines.length; at++) {
    const read = bodyLine(lines[at]) ?? unsignedLine(lines, at)
    if (read === undefined || startsFile(lines, at) || (read === "no newline" && !markNoNewline(body))) break
    if (read === "no newline") continue
    body.push(read)
    if (read.sign !== " ") next = body.length
  }
  return from + next > stop ? { lines: body.slice(0, next), next: from + next, isExact: false } : undefined
}

/** How many lines a header counts on each side that the body does not have. */
const missingLines = (body: Body, range: Range): { readonly old: number; readonly now: number } => {
  if ("heading" in range || range.oldCount === undefined || range.newCount === undefined) return { old: 0, now: 0 }
  const count = (sign: "+" | "-"): number => body.lines.filter((line) => line.sign !== sign).length
  return { old: range.oldCount - count("+"), now: range.newCount - count("-") }
}

/** So many lines may be missing at the end of a patch for the count to be what is wrong. */
const maximumMiscount = 3

/** Refuses a hunk at the end of the text that its header promises more of: the text was cut off. */
const refuseCutOff = (
  lines: ReadonlyArray<string>,
  body: Body,
  range: Range,
  mayLackContext: boolean
): Effect.Effect<void, ToolError<"patch_parse_error">> => {
  for (let at = body.next; at < lines.length; at++) if (lines[at]?.trim() !== "") return Effect.void
  const { old, now } = missingLines(body, range)
  const missing = Math.max(old, now)
  const lacksContext = mayLackContext && old === now
  const endsInChange = body.lines.at(-1)?.sign !== " " && !lacksContext
  if (missing <= 0 || (missing <= maximumMiscount && !endsInChange)) return Effect.void
  return refuseLine(
    lines.length - 1,
    `the patch ends here, but the header of the hunk counts ${missing} more ${missing === 1 ? "line" : "lines"}: it was cut off`
  )
}

/** Lines that may follow a body whose end no header tells: the end, another hunk or file, and what tools and models add. */
const follows = /^(@@|diff |Index: |={3}|-- ?$|```|Only in |From )/

const mayFollow = (lines: ReadonlyArray<string>, at: number): boolean => {
  const line = lines[at]
  return line === undefined || startsFile(lines, at) || follows.test(line)
}

type Range =
  | { readonly oldStart: number; readonly oldCount: number | undefined; readonly newCount: number | undefined }
  | { readonly heading: string; readonly isHint: boolean }

const readRange = (header: string, at: number): Effect.Effect<Range, ToolError<"patch_parse_error">> => {
  const full = /^@@\s*-\s*(\d+)(?:\s*,\s*(\d+))?\s+\+\s*(\d+)(?:\s*,\s*(\d+))?\s*(?:@@|$)/.exec(header)
  if (full !== null) {
    const [, oldStart = "0", oldCount = "1", , newCount = "1"] = full
    return Effect.succeed({ oldStart: Number(oldStart), oldCount: Number(oldCount), newCount: Number(newCount) })
  }
  const line = /^@@\s*-?(\d+)(?:,\d+)?\s*@@/.exec(header)?.[1]
  if (line !== undefined) return Effect.succeed({ oldStart: Number(line), oldCount: undefined, newCount: undefined })
  if (header.startsWith("@@@")) {
    return refuseLine(at, "this is the combined diff of a merge; send the diff against one of its sides")
  }
  const isHint = isPlaceholderHeader(header)
  if (!isHint && /^@@\s*-/.test(header)) {
    return refuseLine(at, `'${header.trim()}' is no hunk header; it looks like '@@ -12,3 +12,4 @@'`)
  }
  return Effect.succeed({ heading: anchorOf(header).trim(), isHint })
}

const placeOf = (range: Range, body: Body): Hunk["place"] => {
  if ("heading" in range) {
    const anchors = range.heading === "" ? [] : [range.heading]
    return { kind: "content", anchors, endsFile: false, ...(range.isHint && { anchorsAreHints: true }) }
  }
  const hasOldLines = body.lines.some(({ sign }) => sign !== "+")
  // `-N,0` stands after line N, everything else begins at line N.
  const line = hasOldLines || range.oldCount !== 0 ? range.oldStart - 1 : range.oldStart
  const isCorrected = !body.isExact && range.oldCount !== undefined
  const lacksOldLines = !hasOldLines && isCorrected && range.oldCount !== 0
  return {
    kind: "line",
    line: Math.max(0, line),
    warning: isCorrected ? correctedCounts : undefined,
    ...(lacksOldLines && { lacksOldLines })
  }
}

const correctedCounts =
  "its header counts other lines than follow, which were taken as they are: was the patch cut short?"

interface Body {
  readonly lines: ReadonlyArray<HunkLine>
  readonly next: number
  readonly isExact: boolean
}

/** The body as the header counts it, or undefined when the counts can't be right. */
const bodyByCount = (lines: ReadonlyArray<string>, from: number, range: Range, signs: Signs): Body | undefined => {
  if ("heading" in range || range.oldCount === undefined || range.newCount === undefined) return undefined
  const body: Array<HunkLine> = []
  let { oldCount, newCount } = range
  let at = from
  while (oldCount > 0 || newCount > 0) {
    const read = bodyLine(lines[at]) ?? (signs === "unsigned" ? unsignedLine(lines, at) : undefined)
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
  // The line that follows must not look like more of the hunk: then the counts were too small. `-- ` signs a mail.
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

/** True if every line of a body must have its sign. */
type Signs = "signed" | "unsigned"

/** A context line that came without its leading space. */
const unsignedLine = (lines: ReadonlyArray<string>, at: number): HunkLine | undefined => {
  const line = lines[at]
  if (line === undefined || startsFile(lines, at) || line.startsWith("@@")) return undefined
  return { ...hunkLine(" ", line), isUnsigned: true }
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
