import { findLines } from "../../find-lines.ts"
import { indentOf } from "../../indentation.ts"
import type { ByContent } from "../patch.ts"
import { comparable, type ContentPass, contentPasses, type LineViews } from "./line-views.ts"

export type ContentPlacement =
  | { readonly kind: "placed"; readonly line: number; readonly pass: ContentPass }
  | { readonly kind: "ambiguous"; readonly lines: ReadonlyArray<number> }
  | { readonly kind: "missing"; readonly anchor?: string }

/**
 * Finds the place of lines by what they hold: after `cursor`, else before it. More than one place in the
 * same pass is never settled by choosing.
 */
export const placeByContent = (
  views: LineViews,
  old: ReadonlyArray<string>,
  { anchors, endsFile }: ByContent,
  cursor: number,
  isFree: (start: number, end: number) => boolean
): ContentPlacement => {
  const { length } = views.get("exact")
  const positions = anchorPositions(views, anchors, cursor)
  if ("missing" in positions) return { kind: "missing", anchor: positions.missing }
  if (old.length === 0) {
    if (anchors.length === 0) return { kind: "placed", line: length, pass: "exact" }
    return (
      decide(
        positions.lines.map((line) => line + 1),
        "exact"
      ) ?? { kind: "missing" }
    )
  }
  const search = (pass: ContentPass, from: number, to: number): ReadonlyArray<number> => {
    const wanted = old.map((line) => comparable(line, pass))
    return findLines(views.get(pass), wanted, from, to).filter((line) => isFree(line, line + old.length))
  }
  if (endsFile) {
    const last = length - old.length
    for (const pass of contentPasses)
      if (search(pass, last, length).length > 0) return { kind: "placed", line: last, pass }
  }
  for (const pass of contentPasses) {
    const found =
      anchors.length === 0
        ? orElse(search(pass, cursor, length), () => search(pass, 0, cursor + old.length - 1))
        : [
            ...new Set(
              positions.lines.flatMap((anchor) => placesBelow(views, anchor, (to) => search(pass, anchor, to)))
            )
          ]
    const decided = decide(found, pass)
    if (decided !== undefined) return decided
  }
  return { kind: "missing" }
}

const decide = (lines: ReadonlyArray<number>, pass: ContentPass): ContentPlacement | undefined => {
  const [line] = lines
  if (line === undefined) return undefined
  return lines.length === 1 ? { kind: "placed", line, pass } : { kind: "ambiguous", lines }
}

const orElse = <A>(one: ReadonlyArray<A>, other: () => ReadonlyArray<A>): ReadonlyArray<A> =>
  one.length > 0 ? one : other()

/** What an anchor means: the block below it; else the very next line; else anything further down. */
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
