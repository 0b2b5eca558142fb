import { TimeSlices } from "@haft/core"
import * as Effect from "effect/Effect"

import type { TextFile } from "../text-file.ts"
import { foldLookAlikes } from "./look-alikes.ts"

/** Where a file comes closest to lines that are not in it. It is for error messages: nothing is ever written there. */
export interface NearestPlace {
  /** Index of the line that corresponds to the first expected one. */
  readonly line: number
  /** The first line that differs, and both versions of it; undefined when they are all there. */
  readonly differs: { readonly line: number; readonly expected: string; readonly found: string } | undefined
}

/** `stated` is the line at which the first one should be: of places that are equally close, the nearer is meant. */
export const nearestPlace = Effect.fnUntraced(function* (
  file: TextFile,
  expected: ReadonlyArray<string>,
  stated?: number
): Effect.fn.Return<NearestPlace | undefined> {
  const slices = new TimeSlices()
  const start =
    (yield* byCommonLines(file, expected, { stated, slices })) ?? (yield* bySimilarLine(file, expected, slices))
  if (start === undefined) return undefined
  const at = expected.findIndex((text, index) => lineOrEmpty(file, start + index) !== text)
  if (at === -1) return { line: Math.max(0, start), differs: undefined }
  return {
    line: Math.max(0, start),
    differs: {
      line: Math.max(0, start + at),
      expected: shortened(expected[at] ?? ""),
      found: shortened(lineOrEmpty(file, start + at))
    }
  }
})

/** Longer repairs are not sent back. */
const maximumRepair = 4000

/** The lines of the file at the nearest place, if most of those that were expected stand there as they were. */
export const repairedLines = (
  file: TextFile,
  place: NearestPlace | undefined,
  expected: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  if (place?.differs === undefined || place.line + expected.length > file.lineCount) return undefined
  const found = expected.map((_, index) => lineOrEmpty(file, place.line + index))
  const same = found.filter((line, index) => normalized(line) === normalized(expected[index] ?? "")).length
  const length = found.reduce((sum, line) => sum + line.length + 1, 0)
  return 2 * same > expected.length && length <= maximumRepair ? found : undefined
}

interface NearestDescription {
  readonly sentence: string
  /** The one thing to change. */
  readonly remedy: string
  /** True when all lines stand there. */
  readonly isWhole: boolean
  readonly details: Readonly<Record<string, unknown>>
}

const readAgain = "Read the file again, and copy the lines from what it says now."

/** One sentence for a message, and the facts for its details. `whole` says why all lines being there is not enough. */
export const describeNearest = (place: NearestPlace | undefined, whole: string): NearestDescription => {
  if (place === undefined) {
    return { sentence: "nothing in the file is close to it", remedy: readAgain, isWhole: false, details: {} }
  }
  if (place.differs === undefined) {
    return {
      sentence: `its lines stand at line ${place.line + 1}, but ${whole}`,
      remedy: readAgain,
      isWhole: true,
      details: { nearest_line: place.line + 1 }
    }
  }
  const { line, expected, found } = place.differs
  return {
    sentence: `the nearest place is line ${place.line + 1}, where line ${line + 1} is ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`,
    remedy: `Where the request has ${JSON.stringify(expected)}, write ${JSON.stringify(found)} if that line is meant.`,
    isWhole: false,
    details: { nearest_line: place.line + 1, differs_at: line + 1, expected, found }
  }
}

/** Lines beyond these are not compared: a hint is not worth seconds. */
const linesCompared = 200_000
const repeatsCompared = 10

const normalized = (line: string): string => foldLookAlikes(line).replace(/\s+/g, " ").trim()

const lineOrEmpty = (file: TextFile, line: number): string =>
  line >= 0 && line < file.lineCount ? file.line(line).replace(/\r$/, "") : ""

const shortened = (line: string): string => (line.length > 200 ? `${line.slice(0, 199)}…` : line)

/** The place where most expected lines stand where they should, spaces aside. */
const byCommonLines = Effect.fnUntraced(function* (
  file: TextFile,
  expected: ReadonlyArray<string>,
  { stated, slices }: { readonly stated: number | undefined; readonly slices: TimeSlices }
): Effect.fn.Return<number | undefined> {
  const wanted = new Map<string, Array<number>>()
  for (const [index, line] of expected.entries()) {
    if (slices.isOver()) yield* slices.pause
    const text = normalized(line)
    const places = wanted.get(text)
    if (text === "") continue
    if (places === undefined) wanted.set(text, [index])
    else if (places.length < repeatsCompared) places.push(index)
  }
  const votes = new Map<number, number>()
  let best: number | undefined
  const distance = (start: number): number => Math.abs(start - (stated ?? start))
  for (let line = 0; line < Math.min(file.lineCount, linesCompared); line++) {
    if (slices.isOver()) yield* slices.pause
    for (const index of wanted.get(normalized(file.line(line).slice(0, 1000))) ?? []) {
      const start = line - index
      const count = (votes.get(start) ?? 0) + 1
      votes.set(start, count)
      const most = best === undefined ? 0 : (votes.get(best) ?? 0)
      if (best === undefined || count > most || (count === most && distance(start) < distance(best))) best = start
    }
  }
  return best
})

/** The place of the line that is most like the longest expected one. */
const bySimilarLine = Effect.fnUntraced(function* (
  file: TextFile,
  expected: ReadonlyArray<string>,
  slices: TimeSlices
): Effect.fn.Return<number | undefined> {
  const longest = expected.reduce((one, other) => (other.trim().length > one.trim().length ? other : one), "")
  const wanted = pairsOf(normalized(longest).slice(0, 500))
  if (wanted.size === 0) return undefined
  let best: { readonly line: number; readonly likeness: number } = { line: 0, likeness: 0.5 }
  for (let line = 0; line < Math.min(file.lineCount, linesCompared); line++) {
    if (slices.isOver()) yield* slices.pause
    const text = normalized(file.line(line).slice(0, 500))
    if (text.length > 3 * (wanted.size + 1) || 3 * text.length < wanted.size) continue
    const pairs = pairsOf(text)
    let common = 0
    for (const pair of pairs) if (wanted.has(pair)) common++
    const likeness = (2 * common) / (pairs.size + wanted.size)
    if (likeness > best.likeness) best = { line, likeness }
  }
  return best.likeness > 0.5 ? best.line - expected.indexOf(longest) : undefined
})

const pairsOf = (text: string): ReadonlySet<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)))
