import { indentShift } from "../indentation.ts"
import { lookAlikesOf } from "../look-alikes.ts"

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
  const pattern = patternFor(find, pass)
  const found: Array<FoundText> = []
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const place = { start: match.index, end: match.index + match[0].length }
    pattern.lastIndex = match.index + 1
    if (pass !== "indentation") found.push(place)
    else {
      const shift = shiftOf(find, match[0])
      if (shift !== undefined) found.push({ ...place, shift })
    }
  }
  return found
}

/** Places that do not overlap, from the front. */
export const withoutOverlaps = (found: ReadonlyArray<FoundText>): ReadonlyArray<FoundText> => {
  const kept: Array<FoundText> = []
  for (const place of found) if (place.start >= (kept.at(-1)?.end ?? 0)) kept.push(place)
  return kept
}

const findExactly = (text: string, find: string): ReadonlyArray<FoundText> => {
  const found: Array<FoundText> = []
  for (let start = text.indexOf(find); start !== -1; start = text.indexOf(find, start + 1)) {
    found.push({ start, end: start + find.length })
  }
  return found
}

const linesOf = (text: string): ReadonlyArray<string> => text.split(/\r?\n/)

const patternFor = (find: string, pass: Exclude<FindPass, "exact">): RegExp => {
  const lines = linesOf(find)
  if (pass === "line_endings") return new RegExp(lines.map(escaped).join("\\r?\\n"), "g")
  if (pass === "indentation") return new RegExp(lines.map(indentedLine).join("\\r?\\n"), "gm")
  const spelled = pass === "trailing_space" ? escaped : lookAlike
  return new RegExp(lines.map((line) => spelled(line.trimEnd())).join("[ \\t]*\\r?\\n"), "g")
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

/** A whole line with any indentation; nothing for the empty end of a text that closes with a newline. */
const indentedLine = (line: string, index: number, lines: ReadonlyArray<string>): string => {
  if (line === "" && index === lines.length - 1 && index > 0) return ""
  return `^[ \\t]*${escaped(line.trim())}[ \\t]*${index === lines.length - 1 ? "(?=\\r?$)" : ""}`
}

const lookAlike = (line: string): string =>
  Array.from(line, (character) => {
    const group = lookAlikesOf(character)
    return group === undefined ? escaped(character) : `[${group.replace("-", "\\-")}]`
  }).join("")

const shiftOf = (find: string, match: string): ((line: string) => string) | undefined => {
  const found = linesOf(match)
  return indentShift(linesOf(find).map((expected, index) => ({ expected, found: found[index] ?? "" })))
}
