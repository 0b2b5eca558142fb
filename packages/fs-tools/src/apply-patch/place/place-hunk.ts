import type { ToolError } from "@haft/core"
import { TimeSlices } from "@haft/core"
import * as Effect from "effect/Effect"

import { fitIndentation, indentOf, type LinePair } from "../../matching/indentation.ts"
import type { TextReplacement, TextFile } from "../../text-file.ts"
import type { Hunk, HunkLine } from "../patch.ts"
import { changedRange, hunkReplacements } from "./hunk-replacements.ts"
import { type HunkSides, sidesOf } from "./hunk-sides.ts"
import { type ContentPass, LineViews, ViewNotPrepared } from "./line-views.ts"
import { placeByContent } from "./place-by-content.ts"
import { placeByLine } from "./place-by-line.ts"
import type { HunkPlacement } from "./placement.ts"
import { refuseHunk } from "./refuse-hunk.ts"
import { otherVariants, type Variant } from "./variants.ts"

/** Where a hunk went, and how it was recognized. */
export interface PlacedHunk {
  /** The first line it changes in the file as it was, from 1. */
  readonly line: number
  readonly pass: ContentPass | "line_endings"
  /** Context lines at one side that differ from the file, at most. */
  readonly fuzz: number
  /** Distance from the stated line; 0 for hunks that state none. */
  readonly offset: number
  readonly warning: string | undefined
}

export interface PlacedHunks {
  readonly replacements: ReadonlyArray<TextReplacement>
  readonly hunks: ReadonlyArray<PlacedHunk>
}

export type PlaceError = ToolError<"patch_hunk_failed" | "already_applied">

/** Finds a place for every hunk of one file, or fails for the first that has none or several. */
export const placeHunks = Effect.fnUntraced(function* (
  path: string,
  text: TextFile,
  hunks: ReadonlyArray<Hunk>
): Effect.fn.Return<PlacedHunks, PlaceError> {
  const hasReturns = hunks.some(({ lines }) => lines.some((line) => line.text.includes("\r")))
  const file = hasReturns && text.lineBreak === "\r" ? text.withLineFeedsOnly() : text
  const placer = new Placer(file, hunks)
  const placed: Array<Found> = []
  const slices = new TimeSlices()
  for (const [index, hunk] of hunks.entries()) {
    if (slices.isOver()) yield* slices.pause
    const { placement, found } = yield* placeInSlices(placer, hunk, index, slices)
    if (found === undefined) {
      return yield* refuseHunk(file, { path, hunk, number: index + 1, of: hunks.length }, placement)
    }
    placed.push(found)
  }
  return {
    replacements: placed
      .map((found) => placer.withTabs(found))
      .flatMap(({ lines, at, endings }) => hunkReplacements(file, lines, at, endings))
      .toSorted((one, other) => one.start - other.start || one.end - other.end),
    hunks: placed.map((found) => found.placed)
  }
})

/** Places a hunk. Where that needs a view of a long file, prepares it in slices and begins anew. */
const placeInSlices = Effect.fnUntraced(function* (
  placer: Placer,
  hunk: Hunk,
  index: number,
  slices: TimeSlices
): Effect.fn.Return<ReturnType<Placer["place"]>> {
  for (;;) {
    try {
      return placer.place(hunk, index)
    } catch (error) {
      if (!(error instanceof ViewNotPrepared)) throw error
      yield* slices.run(placer.views.prepare(error.pass))
    }
  }
})

interface Found {
  readonly lines: ReadonlyArray<HunkLine>
  /** Index of the first old line. */
  readonly at: number
  readonly endings: "literal" | "adapted"
  readonly placed: PlacedHunk
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Places the hunks of one file in turn. */
class Placer {
  readonly #file: TextFile
  readonly views: LineViews
  readonly #hunks: ReadonlyArray<Hunk>
  /** Ranges changed by earlier hunks, and the end of the last one. */
  readonly #changed: Array<Range> = []
  #reached = 0
  /** Offset of the last hunk that stated its line. */
  #drift = 0
  #cursor = 0
  /** Lines of the patch with spaces where the file has tabs. */
  readonly #lostTabs: Array<LinePair> = []
  #offsets: ReadonlyArray<{ readonly index: number; readonly offset: number }> | undefined

  constructor(file: TextFile, hunks: ReadonlyArray<Hunk>) {
    this.#file = file
    this.views = new LineViews(file)
    this.#hunks = hunks
  }

  place(hunk: Hunk, index: number): { readonly placement: HunkPlacement; readonly found: Found | undefined } {
    const { place } = hunk
    const given = sidesOf(hunk.lines)
    const warningOf = new Map<HunkSides, Variant["warning"]>()
    const others = (): ReadonlyArray<HunkSides> =>
      otherVariants(hunk.lines).map(({ lines, warning }) => {
        const sides = sidesOf(lines)
        warningOf.set(sides, warning)
        return sides
      })
    const conflicts = (at: number): boolean => this.#conflicts(given, at)
    const { placement, variant } =
      place.kind === "line"
        ? placeByLine(this.views, given, others, {
            guess: Math.max(0, place.line + this.#drift),
            lacksOldLines: place.lacksOldLines === true,
            floor: this.#reached,
            hint: () => this.#hint(index),
            conflicts
          })
        : placeByContent(this.views, given, others, place, { cursor: this.#cursor, conflicts })
    if (placement.kind !== "placed") return { placement, found: undefined }
    const { line: at } = placement
    const lines = this.#indented(variant, placement)
    if (lines === undefined) return { placement: { kind: "missing", because: "indentation" }, found: undefined }
    const range = changedRange(lines, at)
    this.#changed.push(range)
    this.#reached = Math.max(this.#reached, range.end)
    if (place.kind === "line") this.#drift = at - place.line
    this.#cursor = at + variant.old.length
    const warnings = [warningOf.get(variant), place.kind === "line" ? place.warning : undefined]
    return { placement, found: this.#found(hunk, variant, lines, placement, warnings) }
  }

  #found(
    { place }: Hunk,
    { old }: HunkSides,
    lines: ReadonlyArray<HunkLine>,
    { line: at, pass, fuzz }: HunkPlacement & { kind: "placed" },
    warnings: ReadonlyArray<Variant["warning"]>
  ): Found {
    // Without an old line to compare, only the patch's own carriage returns tell how its lines should end.
    const spellsEndings = old.length > 0 || lines.some(({ text }) => text.endsWith("\r"))
    const isLiteral = pass === "literal" && spellsEndings && this.#file.lineBreak === "\n"
    const said = warnings.filter((warning) => warning !== undefined)
    return {
      lines,
      at,
      endings: isLiteral ? "literal" : "adapted",
      placed: {
        line: changedRange(lines, at).start + 1,
        pass: pass === "literal" ? "exact" : pass === "exact" && place.kind === "line" ? "line_endings" : pass,
        fuzz,
        offset: place.kind === "line" ? at - place.line : 0,
        warning: said.length === 0 ? undefined : said.join("; ")
      }
    }
  }

  /** The hunk with its added lines indented as the place is; undefined when it does not say how. */
  #indented(
    { lines, old }: HunkSides,
    { line: at, pass }: HunkPlacement & { kind: "placed" }
  ): ReadonlyArray<HunkLine> | undefined {
    if (pass === "literal" || pass === "exact" || pass === "trailing_space") return lines
    const pairs = old.map(({ sign, text }, index) => ({ sign, expected: text, found: this.#file.line(at + index) }))
    // Added lines stand for removed ones; context tells only where those have no indentation.
    const removed = pairs.filter(
      ({ sign, expected, found }) => sign === "-" && indentOf(expected) + indentOf(found) !== ""
    )
    const added = lines.filter(({ sign }) => sign === "+").map(({ text }) => text)
    const fitted = fitIndentation(removed.length > 0 ? removed : pairs, added)
    if (fitted === undefined) return undefined
    for (const { expected, found } of pairs) {
      if (indentOf(found).includes("\t") && !indentOf(expected).includes("\t")) this.#lostTabs.push({ expected, found })
    }
    return withAdded(lines, fitted)
  }

  /**
   * The hunk with tabs in its added lines where other hunks of the patch lost them, unless its own old lines tell that
   * spaces are meant.
   */
  withTabs(found: Found): Found {
    const { lines, placed } = found
    if (this.#lostTabs.length === 0 || placed.pass !== "exact") return found
    if (lines.some(({ sign, text }) => sign !== "+" && /^[ \t]/.test(text))) return found
    const added = lines.filter(({ sign }) => sign === "+").map(({ text }) => text)
    const fitted = added.some((text) => text.includes("\t")) ? undefined : fitIndentation(this.#lostTabs, added)
    return fitted === undefined ? found : { ...found, lines: withAdded(lines, fitted) }
  }

  /** True when another hunk changes lines that a hunk expects there, or adds lines between them. */
  #conflicts({ lines, old }: HunkSides, at: number): boolean {
    const end = at + old.length
    const own = changedRange(lines, at)
    if (at > this.#reached || this.#changed.length === 0) return false
    return this.#changed.some(({ start, end: stop }) =>
      start === stop
        ? (at < start && start < end) || (own.start === own.end && own.start === start)
        : at < stop && start < end
    )
  }

  /** The line at which other hunks, found by what they hold, let a hunk be expected. */
  #hint(index: number): number | undefined {
    this.#offsets ??= this.#hunks.slice(0, hintedHunks).flatMap(({ place, lines }, other) => {
      if (place.kind !== "line") return []
      const { old } = sidesOf(lines)
      const [line, ...more] = old.length === 0 ? [] : this.views.find("exact", old)
      return line === undefined || more.length > 0 ? [] : [{ index: other, offset: line - place.line }]
    })
    const place = this.#hunks[index]?.place
    const nearest = this.#offsets.reduce<{ readonly index: number; readonly offset: number } | undefined>(
      (one, other) => (one === undefined || Math.abs(other.index - index) <= Math.abs(one.index - index) ? other : one),
      undefined
    )
    return nearest === undefined || place?.kind !== "line" ? undefined : Math.max(0, place.line + nearest.offset)
  }
}

const withAdded = (lines: ReadonlyArray<HunkLine>, added: ReadonlyArray<string>): ReadonlyArray<HunkLine> => {
  let next = 0
  return lines.map((line) => (line.sign === "+" ? { ...line, text: added[next++] ?? line.text } : line))
}

/** Hunks that are looked at for a hint; more would take longer than they help. */
const hintedHunks = 200
