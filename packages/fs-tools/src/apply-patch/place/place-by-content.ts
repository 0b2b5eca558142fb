import { findLines } from "../../matching/find-lines.ts"
import { indentOf } from "../../matching/indentation.ts"
import type { ByContent } from "../patch.ts"
import { type HunkSides, isInformative, looksUnchanged } from "./hunk-sides.ts"
import { comparable, type ContentPass, contentPasses, type LineViews, loosePasses, strictPasses } from "./line-views.ts"
import type { HunkPlacement } from "./placement.ts"

/** Part of a file that earlier hunks leave to a hunk. */
export interface Remaining {
  /** Where the hunk before it ends. */
  readonly cursor: number
  /** True for a place that another hunk changes. */
  readonly conflicts: (at: number) => boolean
}

/**
 * Finds the place of a hunk by what it holds: after the hunk before it, else before that. Several places that fit
 * equally well are never settled by choosing.
 */
export const placeByContent = (
  views: LineViews,
  given: HunkSides,
  others: () => ReadonlyArray<HunkSides>,
  place: ByContent,
  remaining: Remaining
): { readonly placement: HunkPlacement; readonly variant: HunkSides } => {
  const anchors = anchorPositions(views, place.anchors, remaining.cursor)
  if ("missing" in anchors) {
    return place.anchorsAreHints === true
      ? placeByContent(views, given, others, { ...place, anchors: [] }, remaining)
      : { placement: { kind: "missing", anchor: anchors.missing }, variant: given }
  }
  const search = new ContentSearch(views, { ...place, lines: anchors.lines }, remaining)
  const first = search.place(given, strictPasses)
  if (first !== undefined) return { placement: first, variant: given }
  const read = others()
  for (const passes of [strictPasses, loosePasses]) {
    for (const variant of passes === strictPasses ? read : [given, ...read]) {
      const placement = search.place(variant, passes)
      if (placement !== undefined) return { placement, variant }
    }
    const applied = search.applied(given)
    if (applied !== undefined) return { placement: applied, variant: given }
  }
  if (place.anchorsAreHints === true && place.anchors.length > 0) {
    return placeByContent(views, given, others, { ...place, anchors: [] }, remaining)
  }
  return { placement: { kind: "missing", ...(search.overlaps && { because: "overlap" }) }, variant: given }
}

class ContentSearch {
  /** True once a place was passed over because another hunk changes it. */
  overlaps = false
  readonly #views: LineViews
  readonly #place: ByContent & { readonly lines: ReadonlyArray<number> }
  readonly #remaining: Remaining
  constructor(views: LineViews, place: ByContent & { readonly lines: ReadonlyArray<number> }, remaining: Remaining) {
    this.#views = views
    this.#place = place
    this.#remaining = remaining
  }

  place(sides: HunkSides, passes: ReadonlyArray<ContentPass>): HunkPlacement | undefined {
    if (sides.old.length === 0) return this.#insertion(sides)
    const usable = passes.filter((pass) => pass === "exact" || !looksUnchanged(sides, pass))
    // Hunks come in order: a place behind the hunk before comes first, even if spaces at line ends differ there.
    for (const where of ["behind", "anywhere"] as const) {
      for (const pass of usable) {
        const [line, ...others] = this.#places(sides, pass, where)
        if (line === undefined) continue
        if (others.length > 0) return { kind: "ambiguous", lines: [line, ...others] }
        return this.#standsAround(sides, line) ? { kind: "applied", line } : { kind: "placed", line, pass, fuzz: 0 }
      }
    }
    return undefined
  }

  /** Where the result of the hunk stands, when its old lines do not. */
  applied({ now, old }: HunkSides): HunkPlacement | undefined {
    if (now.length < 2 && now.length < old.length) return undefined
    const [line] = now.some(isInformative) ? this.#views.find("exact", now) : []
    return line === undefined ? undefined : { kind: "applied", line }
  }

  #insertion({ now }: HunkSides): HunkPlacement | undefined {
    const { anchors, lines } = this.#place
    const { lineCount } = this.#views.file
    if (anchors.length === 0) {
      const end = lineCount - now.length
      return now.some(isInformative) && this.#views.matchesAt("exact", now, end)
        ? { kind: "applied", line: end }
        : { kind: "placed", line: lineCount, pass: "exact", fuzz: 0 }
    }
    const [first, ...others] = lines.map((line) => line + 1)
    if (first === undefined) return undefined
    if (others.length > 0) return { kind: "ambiguous", lines: [first, ...others] }
    return now.some(isInformative) && this.#views.matchesAt("exact", now, first)
      ? { kind: "applied", line: first }
      : { kind: "placed", line: first, pass: "exact", fuzz: 0 }
  }

  /** The result of a hunk may contain what it expects: then it fits where its result stands. */
  #standsAround({ now, old }: HunkSides, line: number): boolean {
    if (now.length < old.length || isSame(old, now) || !now.some(isInformative)) return false
    return this.#views.find("exact", now, line - now.length, line + old.length + now.length).length > 0
  }

  #places({ old }: HunkSides, pass: ContentPass, where: "behind" | "anywhere"): ReadonlyArray<number> {
    const { anchors, endsFile, lines } = this.#place
    const { cursor } = this.#remaining
    const { lineCount } = this.#views.file
    const search = (from: number, to: number): ReadonlyArray<number> => {
      const found = this.#views.find(pass, old, from, to)
      const free = found.filter((line) => !this.#remaining.conflicts(line))
      this.overlaps ||= free.length < found.length
      return free
    }
    const last = endsFile ? search(lineCount - old.length, lineCount) : []
    if (last.length > 0) return last
    if (anchors.length === 0) return where === "behind" ? search(cursor, lineCount) : search(0, lineCount)
    return [...new Set(lines.flatMap((anchor) => placesBelow(this.#views, anchor, (to) => search(anchor, to))))]
  }
}

const isSame = (old: HunkSides["old"], now: HunkSides["now"]): boolean =>
  old.length === now.length && old.every(({ text }, index) => text === now[index]?.text)

const orElse = <A>(one: ReadonlyArray<A>, other: () => ReadonlyArray<A>): ReadonlyArray<A> =>
  one.length > 0 ? one : other()

/** Lines that an anchor refers to: the block below it; else the very next line; else anything further down. */
const placesBelow = (
  views: LineViews,
  anchor: number,
  search: (to: number) => ReadonlyArray<number>
): ReadonlyArray<number> => {
  const block = search(blockEnd(views.get("exact"), anchor))
  if (block.length > 0) return block
  const all = search(Number.POSITIVE_INFINITY)
  return all.includes(anchor + 1) ? [anchor + 1] : all
}

/** The first line after an anchor that is not indented deeper, closing lines of the block included before it. */
const blockEnd = (lines: ReadonlyArray<string>, anchor: number): number => {
  const depth = indentOf(lines[anchor] ?? "").length
  for (let line = anchor + 1; line < lines.length; line++) {
    const text = lines[line] ?? ""
    if (text.trim() === "" || indentOf(text).length > depth) continue
    return /^[\s)\]}]*[;,]?$/.test(text) ? line + 1 : line
  }
  return lines.length
}

type AnchorPositions = { readonly lines: ReadonlyArray<number> } | { readonly missing: string }

const anchorPositions = (views: LineViews, anchors: ReadonlyArray<string>, cursor: number): AnchorPositions => {
  const { length } = views.get("exact")
  let lines: ReadonlyArray<number> | undefined
  for (const anchor of anchors) {
    const next: ReadonlyArray<number> =
      lines === undefined
        ? orElse(anchorLines(views, anchor, cursor, length), () => anchorLines(views, anchor, 0, cursor))
        : lines.flatMap((above) => {
            const end = blockEnd(views.get("exact"), above)
            return orElse(anchorLines(views, anchor, above + 1, end), () => anchorLines(views, anchor, end, length))
          })
    if (next.length === 0) return { missing: anchor }
    lines = [...new Set(next)]
  }
  return { lines: lines ?? [] }
}

/** Lines that are the anchor, by the first pass that finds any; last of all, lines that contain it. */
const anchorLines = (views: LineViews, anchor: string, from: number, to: number): ReadonlyArray<number> => {
  for (const pass of contentPasses) {
    const found = findLines(views.get(pass), [comparable(anchor, pass)], from, to)
    if (found.length > 0) return found
  }
  const part = comparable(anchor, "look_alikes")
  const view = views.get("look_alikes")
  const found: Array<number> = []
  for (let line = from; line < Math.min(to, view.length); line++)
    if (view[line]?.includes(part) === true) found.push(line)
  return found
}
