import { findLines } from "../find-lines.ts"
import { indentShift } from "../indentation.ts"
import { foldLookAlikes } from "../look-alikes.ts"

/**
 * How a text is looked for, from strict to loose. The first two are how a model sees a file; the others
 * forgive spaces at line ends, the indentation of a whole block, and characters that look alike.
 */
export const findPasses = ["exact", "line_endings", "trailing_space", "indentation", "look_alikes"] as const
export type FindPass = (typeof findPasses)[number]

export interface FoundText {
  readonly start: number
  readonly end: number
  /** Shifts a line of the replacement as the place is shifted against what was looked for. */
  readonly shift?: (line: string) => string
}

/** Every place a text stands at, also those that overlap. */
export const findText = (text: string, find: string, pass: FindPass): ReadonlyArray<FoundText> => {
  if (pass === "exact") return findExactly(text, find)
  if (pass === "indentation") return findBlock(text, find)
  const normal = pass === "line_endings" ? asItIs : withoutTrailingSpace
  const fold = pass === "look_alikes" ? foldLookAlikes : asItIs
  const [first = "", ...rest] = linesOf(fold(find)).map(normal)
  const last = rest.pop()
  if (last === undefined) return first === "" ? [] : findExactly(fold(text), first)

  const lines = splitLines(fold(text))
  const found: Array<FoundText> = []
  for (const index of findLines(lines.contents.map(normal), rest)) {
    const before = normal(lines.contents[index - 1] ?? "")
    const after = lines.contents[index + rest.length]
    if (index === 0 || after === undefined || !before.endsWith(first) || !after.startsWith(last)) continue
    const start = (lines.starts[index - 1] ?? 0) + before.length - first.length
    found.push({ start, end: (lines.starts[index + rest.length] ?? 0) + last.length })
  }
  return found
}

/** Places that do not overlap, from the front. */
export const withoutOverlaps = (found: ReadonlyArray<FoundText>): ReadonlyArray<FoundText> => {
  const kept: Array<FoundText> = []
  for (const place of found) if (place.start >= (kept.at(-1)?.end ?? 0)) kept.push(place)
  return kept
}

const asItIs = (text: string): string => text

const withoutTrailingSpace = (text: string): string => text.trimEnd()

const linesOf = (text: string): ReadonlyArray<string> => text.split(/\r?\n/)

const splitLines = (text: string): { readonly contents: ReadonlyArray<string>; readonly starts: Array<number> } => {
  const starts = [0]
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1)
  return { contents: linesOf(text), starts }
}

const findExactly = (text: string, find: string): ReadonlyArray<FoundText> => {
  const found: Array<FoundText> = []
  let keptUntil = 0
  let start = text.indexOf(find)
  while (start !== -1) {
    const end = start + find.length
    found.push({ start, end })
    if (start >= keptUntil) keptUntil = end
    // After many places only those that do not overlap, or a text that repeats itself takes hours.
    start = text.indexOf(find, found.length < manyPlaces ? start + 1 : Math.max(start + 1, keptUntil))
  }
  return found
}

const manyPlaces = 20

/** Whole lines with any indentation, if it differs from what was looked for by the same in each of them. */
const findBlock = (text: string, find: string): ReadonlyArray<FoundText> => {
  const expected = linesOf(find)
  const wanted = expected.map((line) => line.trim())
  if (wanted.every((line) => line === "")) return []
  const withNewline = expected.at(-1) === ""
  if (withNewline) wanted.pop()

  const { contents, starts } = splitLines(text)
  const trimmed = contents.map((line) => line.trim())
  const found: Array<FoundText> = []
  let seen = 0
  let keptUntil = 0
  for (const index of findLines(trimmed, wanted)) {
    const next = index + wanted.length
    if ((withNewline && next === contents.length) || (++seen > manyPlaces && index < keptUntil)) continue
    if (index >= keptUntil) keptUntil = next
    const shift = indentShift(
      wanted.map((_line, at) => ({ expected: expected[at] ?? "", found: contents[index + at] ?? "" }))
    )
    if (shift === undefined) continue
    const lastEnd = (starts[next - 1] ?? 0) + (contents[next - 1] ?? "").length
    found.push({ start: starts[index] ?? 0, end: withNewline ? (starts[next] ?? 0) : lastEnd, shift })
  }
  return found
}
