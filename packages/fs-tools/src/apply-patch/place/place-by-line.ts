import { findLines } from "../../find-lines.ts"
import type { TextFile } from "../../text-file.ts"
import type { HunkLine, StatedLine } from "../patch.ts"
import { comparable, type LineViews, literally } from "./line-views.ts"

/** How many lines of context at each end may fail to match, as GNU patch has it. */
const maximumFuzz = 2

export interface LinePlacement {
  /** Index of the hunk's first old line. */
  readonly line: number
  readonly pass: "exact" | "line_endings"
  /** The fuzz it was found with, as GNU patch counts it. */
  readonly fuzz: number
  /** True when no line of context had to be left out, after all. */
  readonly isWhole: boolean
  /** Other lines it would fit as well, told when it is not where it was stated to be. */
  readonly others: ReadonlyArray<number>
}

/** Where the hunks before it ended. Strict once one of them was placed with fuzz: then no hunk may stand before that. */
export interface Floor {
  readonly line: number
  readonly isStrict: boolean
}

/** A file, and its lines as they are compared all at once. */
export interface Searched {
  readonly file: TextFile
  readonly views: LineViews
}

/** More of them help nobody. */
const maximumOthers = 10

/**
 * Finds the place of a hunk that states its line: there, then ever further away in both directions, then
 * the same with up to two lines of context left out at either end.
 */
export const placeByLine = (
  { file, views }: Searched,
  lines: ReadonlyArray<HunkLine>,
  stated: StatedLine & { readonly drift: number; readonly floor: Floor },
  isFree: (start: number, end: number) => boolean
): LinePlacement | undefined => {
  const guess = Math.max(0, stated.line + stated.drift)
  const old = lines.filter(({ sign }) => sign !== "+")
  if (old.length === 0) {
    return guess <= file.lineCount ? { line: guess, pass: "exact", fuzz: 0, isWhole: true, others: [] } : undefined
  }
  const prefix = lines.findIndex(({ sign }) => sign !== " ")
  const suffix = lines.length - 1 - lines.findLastIndex(({ sign }) => sign !== " ")
  const context = Math.max(prefix, suffix)
  for (let fuzz = 0; fuzz <= Math.min(maximumFuzz, context); fuzz++) {
    // Fuzz counts from the longer side, so that the shorter one is not used up first.
    const window = { prefix: fuzz + prefix - context, suffix: fuzz + suffix - context }
    const skip = { prefix: Math.max(0, window.prefix), suffix: Math.max(0, window.suffix) }
    // With nothing left to compare, a hunk would fit everywhere: then it must be where it says, with all that it says.
    if (skip.prefix + skip.suffix >= old.length)
      return placeWhole(file, old, { guess, fuzz, floor: stated.floor }, isFree)
    for (const pass of ["exact", "line_endings"] as const) {
      const mayStand = (line: number): boolean =>
        line >= (fuzz > 0 || stated.floor.isStrict ? stated.floor.line : 0) &&
        line + old.length - skip.suffix <= file.lineCount &&
        isFree(line, line + old.length)
      const fits = (line: number): boolean => mayStand(line) && linesMatch(file, old, line, skip, pass)
      const places = (): ReadonlyArray<number> => placesOf({ file, views }, old, skip, pass).filter(mayStand)
      const line = lineThatFits(file, old.length, guess, fits, places, {
        // Less context before than after means that the file begins here, and the other way round.
        startsFile: stated.isExact && window.prefix < 0 && stated.line === 0,
        endsFile: stated.isExact && window.suffix < 0
      })
      if (line === undefined) continue
      const others = line === guess ? [] : places().filter((other) => other !== line)
      const isWhole =
        skip.prefix + skip.suffix === 0 ||
        (line + old.length <= file.lineCount && linesMatch(file, old, line, { prefix: 0, suffix: 0 }, pass))
      return { line, pass, fuzz, isWhole, others: others.slice(0, maximumOthers) }
    }
  }
  return undefined
}

const placeWhole = (
  file: TextFile,
  old: ReadonlyArray<HunkLine>,
  { guess, fuzz, floor }: { readonly guess: number; readonly fuzz: number; readonly floor: Floor },
  isFree: (start: number, end: number) => boolean
): LinePlacement | undefined => {
  const end = guess + old.length
  if (guess < floor.line || end > file.lineCount || !isFree(guess, end)) return undefined
  const all = { prefix: 0, suffix: 0 }
  const pass = (["exact", "line_endings"] as const).find((one) => linesMatch(file, old, guess, all, one))
  return pass === undefined ? undefined : { line: guess, pass, fuzz, isWhole: true, others: [] }
}

const lineThatFits = (
  file: TextFile,
  length: number,
  guess: number,
  fits: (line: number) => boolean,
  places: () => ReadonlyArray<number>,
  only: { readonly startsFile: boolean; readonly endsFile: boolean }
): number | undefined => {
  if (only.startsFile) return (!only.endsFile || length === file.lineCount) && fits(0) ? 0 : undefined
  if (only.endsFile) return fits(file.lineCount - length) ? file.lineCount - length : undefined
  for (let distance = 0; distance <= nearby; distance++) {
    if (fits(guess + distance)) return guess + distance
    if (distance > 0 && guess - distance >= 0 && fits(guess - distance)) return guess - distance
  }
  let nearest: number | undefined
  for (const line of places()) {
    const distance = Math.abs(line - guess)
    // Of two that are equally far, the one below.
    if (nearest === undefined || distance <= Math.abs(nearest - guess)) nearest = line
  }
  return nearest
}

/** Lines at each side that are looked at one by one, before all of the file is. */
const nearby = 50

/** All lines at which a hunk's old lines stand, whether or not they are still free. */
const placesOf = (
  { file, views }: Searched,
  old: ReadonlyArray<HunkLine>,
  skip: { readonly prefix: number; readonly suffix: number },
  pass: LinePlacement["pass"]
): ReadonlyArray<number> => {
  const compared = old.slice(skip.prefix, old.length - skip.suffix)
  const found =
    pass === "exact"
      ? findLines(views.get("literal"), compared.map(literally))
      : findLines(
          views.get("exact"),
          compared.map(({ text }) => comparable(text, "exact"))
        )
  const places = found.map((line) => line - skip.prefix).filter((line) => line >= 0)
  const last = compared.findIndex(({ noNewline }) => noNewline)
  return last === -1 ? places : places.filter((line) => line + skip.prefix + last === file.lineCount - 1)
}

const linesMatch = (
  file: TextFile,
  old: ReadonlyArray<HunkLine>,
  at: number,
  skip: { readonly prefix: number; readonly suffix: number },
  pass: LinePlacement["pass"]
): boolean => {
  for (let index = skip.prefix; index < old.length - skip.suffix; index++) {
    const expected = old[index]
    if (expected === undefined) return false
    const line = at + index
    const isSame =
      pass === "exact"
        ? file.lineEquals(line, expected.text) && file.endsWithNewline(line) === !expected.noNewline
        : withoutEnding(file.line(line), line) === withoutEnding(expected.text, line) &&
          (!expected.noNewline || line === file.lineCount - 1)
    if (!isSame) return false
  }
  return true
}

/** A line as it looks: without its carriage return, and without the byte order mark of a first line. */
const withoutEnding = (text: string, line: number): string => {
  const start = line === 0 && text.startsWith("\uFEFF") ? 1 : 0
  return text.slice(start, text.endsWith("\r") ? -1 : undefined)
}
