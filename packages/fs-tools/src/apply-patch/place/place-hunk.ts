import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { indentShift } from "../../indentation.ts"
import { describeNearest, nearestPlace } from "../../nearest-place.ts"
import type { Replacement, TextFile } from "../../text-file.ts"
import { withoutLineNumbers } from "../parse/line-numbers.ts"
import type { ByContent, Hunk, HunkLine, StatedLine } from "../patch.ts"
import { changedRange, hunkReplacements } from "./hunk-replacements.ts"
import { type ContentPass, LineViews } from "./line-views.ts"
import { placeByContent } from "./place-by-content.ts"
import { type Floor, placeByLine, type Searched } from "./place-by-line.ts"

/** Where a hunk went, and how it was recognised. */
export interface PlacedHunk {
  /** The first line it changes in the file as it was, from 1. */
  readonly line: number
  readonly pass: ContentPass | "line_endings"
  /** Lines of context left out at an end, at most. */
  readonly fuzz: number
  /** How far from the stated line; 0 for hunks that state none. */
  readonly offset: number
  /** Other lines that it would have fitted as well, from 1. */
  readonly others: ReadonlyArray<number>
  readonly warning: string | undefined
}

export interface PlacedHunks {
  readonly replacements: ReadonlyArray<Replacement>
  readonly hunks: ReadonlyArray<PlacedHunk>
}

/** Finds a place for every hunk of one file, or fails for the first that has none or several. */
export const placeHunks = Effect.fnUntraced(function* (
  path: string,
  file: TextFile,
  hunks: ReadonlyArray<Hunk>
): Effect.fn.Return<PlacedHunks, ToolError<"patch_hunk_failed">> {
  const views = new LineViews(file)
  const used: Array<{ readonly start: number; readonly end: number }> = []
  const placed: Array<Found> = []
  let reached = 0
  let usedFuzz = false
  let drift = 0
  let cursor = 0
  for (const [index, hunk] of hunks.entries()) {
    const isFree = (start: number, end: number): boolean =>
      start >= reached || used.every((range) => end <= range.start || start >= range.end)
    const floor: Floor = { line: reached, isStrict: usedFuzz }
    const { lines, place } = hunk
    const found: Found | NotFound =
      place.kind === "line"
        ? findByLine({ file, views }, lines, { ...place, drift, floor }, isFree)
        : findByContent({ file, views }, lines, { ...place, cursor }, isFree)
    if (!("placed" in found)) return yield* failed(path, file, { hunk, number: index + 1, of: hunks.length }, found)
    const range = changedRange(found.lines, found.at)
    if (range.end > range.start) {
      used.push(range)
      reached = Math.max(reached, range.end)
    }
    usedFuzz ||= found.isFuzzy
    if (place.kind === "line") drift = found.at - place.line
    cursor = found.at + oldLines(found.lines).length
    placed.push(found)
  }
  return {
    replacements: placed
      .flatMap(({ lines, at, endings }) => hunkReplacements(file, lines, at, endings))
      .toSorted((one, other) => one.start - other.start || one.end - other.end),
    hunks: placed.map((found) => found.placed)
  }
})

interface Found {
  readonly lines: ReadonlyArray<HunkLine>
  /** Index of the first old line. */
  readonly at: number
  readonly endings: "literal" | "adapted"
  /** True when it was looked for with less context than it has. */
  readonly isFuzzy: boolean
  readonly placed: PlacedHunk
}

interface NotFound {
  /** Places between which there is no choosing. */
  readonly candidates: ReadonlyArray<number>
  readonly anchor?: string
}

type IsFree = (start: number, end: number) => boolean

const oldLines = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<HunkLine> => lines.filter(({ sign }) => sign !== "+")

const findByLine = (
  searched: Searched,
  lines: ReadonlyArray<HunkLine>,
  stated: StatedLine & { readonly drift: number; readonly floor: Floor },
  isFree: IsFree
): Found | NotFound => {
  const found = placeByLine(searched, lines, stated, isFree)
  if (found === undefined) return { candidates: [] }
  const { line: at, pass, fuzz, isWhole, others } = found
  const lead = changedRange(lines, at).start - at + 1
  const hasOldLines = oldLines(lines).length > 0
  const spellsCarriageReturns = lines.some(({ text }) => text.endsWith("\r"))
  return {
    lines,
    at,
    // Without an old line to compare, only the patch's own carriage returns tell how its lines should end.
    endings: pass === "exact" && (hasOldLines || spellsCarriageReturns) ? "literal" : "adapted",
    isFuzzy: fuzz > 0,
    placed: {
      line: at + lead,
      pass,
      fuzz: isWhole ? 0 : fuzz,
      offset: at - stated.line,
      others: others.map((line) => line + lead),
      warning: stated.isExact
        ? undefined
        : "its header counts other lines than follow, which were taken as they are: was the patch cut short?"
    }
  }
}

const findByContent = (
  { file, views }: Searched,
  given: ReadonlyArray<HunkLine>,
  { cursor, ...place }: ByContent & { readonly cursor: number },
  isFree: IsFree
): Found | NotFound => {
  let missing: NotFound = { candidates: [] }
  for (const { lines, warning } of variantsOf(given)) {
    const old = oldLines(lines).map(({ text }) => text)
    const placement = placeByContent(views, old, place, cursor, isFree)
    if (placement.kind === "ambiguous") return { candidates: placement.lines }
    if (placement.kind === "missing") {
      missing = { candidates: [], ...(placement.anchor !== undefined && { anchor: placement.anchor }) }
      continue
    }
    const { line: at, pass } = placement
    const shifted = pass === "exact" || pass === "trailing_space" ? lines : reindented(file, lines, at)
    const placed = { line: changedRange(lines, at).start + 1, pass, fuzz: 0, offset: 0, others: [], warning }
    return { lines: shifted, at, endings: "adapted", isFuzzy: false, placed }
  }
  return missing
}

interface Variant {
  readonly lines: ReadonlyArray<HunkLine>
  readonly warning: string | undefined
}

/** The hunk as it is; without the blank lines that only pad it; without a reader's line numbers. */
const variantsOf = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<Variant> => {
  const lastReal = lines.findLastIndex(({ isBare }) => !isBare)
  const unpadded = lines.slice(0, lastReal + 1)
  const unnumbered = withoutLineNumbers(unpadded)
  return [
    { lines, warning: undefined },
    ...(unpadded.length < lines.length ? [{ lines: unpadded, warning: undefined }] : []),
    ...(unnumbered === undefined
      ? []
      : [{ lines: unnumbered, warning: "line numbers pasted in from a reader were left out" }])
  ]
}

const reindented = (file: TextFile, lines: ReadonlyArray<HunkLine>, at: number): ReadonlyArray<HunkLine> => {
  const shift = indentShift(
    oldLines(lines).map(({ text }, index) => ({ expected: text, found: file.line(at + index) }))
  )
  if (shift === undefined) return lines
  return lines.map((line) => (line.sign === "+" ? { ...line, text: shift(line.text) } : line))
}

const failed = (
  path: string,
  file: TextFile,
  { hunk, number, of }: { readonly hunk: Hunk; readonly number: number; readonly of: number },
  { candidates, anchor }: NotFound
): Effect.Effect<never, ToolError<"patch_hunk_failed">> => {
  const which = `hunk ${number} of ${of} (line ${hunk.patchLine} of the patch)`
  const details = { path, hunk: number, patch_line: hunk.patchLine }
  if (candidates.length > 0) {
    const lines = candidates.slice(0, 20).map((line) => line + 1)
    return toolError(
      "patch_hunk_failed",
      `${path}: ${which} fits ${candidates.length} places, at lines ${lines.join(", ")}; nothing was changed`,
      { suggestion: "Add context lines or an anchor that only one of them has.", details: { ...details, lines } }
    )
  }
  const expected = anchor === undefined ? oldLines(hunk.lines).map(({ text }) => text) : [anchor]
  const nearest = describeNearest(
    nearestPlace(file, expected),
    "another hunk changes them, or the context says that the file begins or ends there: give as much after as before"
  )
  const problem = anchor === undefined ? "does not match the file" : `has an anchor that is not in the file: ${anchor}`
  return toolError("patch_hunk_failed", `${path}: ${which} ${problem}; ${nearest.sentence}; nothing was changed`, {
    suggestion: "Read the file again and rebuild the patch from what it says now.",
    details: { ...details, ...nearest.details }
  })
}
