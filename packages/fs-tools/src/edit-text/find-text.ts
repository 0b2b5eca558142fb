import { findLinesInParts } from "../matching/find-lines.ts"
import type { LinePair } from "../matching/indentation.ts"
import { foldLookAlikes } from "../matching/look-alikes.ts"
import { allParts, itemsInPart, occurrencesInParts, type Parts } from "../matching/occurrences.ts"
import type { TextFile } from "../text-file.ts"
import { type BlankLines, findIgnoringBlankLines } from "./blank-lines.ts"

/**
 * How a text is looked for, from strict to loose. The first two are how a model sees a file; the others
 * forgive spaces at line ends, indentation, any spacing, blank lines, and characters that look alike.
 */
export const findPasses = [
  "exact",
  "line_endings",
  "trailing_space",
  "indentation",
  "spacing",
  "blank_lines",
  "look_alikes"
] as const
export type FindPass = (typeof findPasses)[number]
export const strictPasses: ReadonlyArray<FindPass> = ["exact", "line_endings"]

export interface FoundText {
  readonly start: number
  readonly end: number
  /** Each line as it was looked for and as the file has it; absent where they are the same but for their ends. */
  readonly pairs?: ReadonlyArray<LinePair>
  /** Where blank lines differ: the place is from the first to the last line that is not blank. */
  readonly blankLines?: BlankLines
}

export interface FoundPlaces {
  /** The first of them; the rest is only counted. */
  readonly places: ReadonlyArray<FoundText>
  readonly count: number
}

export interface FindOptions {
  /** Count places that overlap too, or only those that can all be replaced. */
  readonly overlapping: boolean
  /** How many places to keep at most. */
  readonly keep: number
}

/** The places a text stands at, found in one go. */
export const findText = (file: TextFile, find: string, pass: FindPass, options: FindOptions): FoundPlaces =>
  allParts(findTextInParts(file, find, pass, options))

/** The places a text stands at. */
export function* findTextInParts(
  file: TextFile,
  find: string,
  pass: FindPass,
  options: FindOptions
): Parts<FoundPlaces> {
  const places: Array<FoundText> = []
  let count = 0
  let end = 0
  const add = (place: FoundText): void => {
    if (!options.overlapping && place.start < end) return
    end = place.end
    if (count++ < options.keep) places.push(place)
  }
  if (pass === "exact") yield* findExactly(file.text, find, options, add)
  else if (!isWorthwhile(file, find, pass)) return { places, count }
  else if (pass === "spacing") yield* findBySpacing(file, find, add)
  else if (pass === "blank_lines") yield* findByBlankLines(file, find, add)
  else yield* findByLines(file, find, pass, add)
  return { places, count }
}

type Add = (place: FoundText) => void

// A long text that repeats itself would keep `indexOf` busy for minutes.
const longFind = 1000

function* findExactly(text: string, find: string, { overlapping }: FindOptions, add: Add): Parts {
  if (find.length > text.length) return
  if (find.length > longFind) {
    const codes = new Uint16Array(find.length)
    for (let index = 0; index < find.length; index++) codes[index] = find.charCodeAt(index)
    yield* occurrencesInParts({ from: 0, to: text.length, at: (index) => text.charCodeAt(index) }, codes, (start) =>
      add({ start, end: start + find.length })
    )
    return
  }
  const step = overlapping ? 1 : find.length
  for (let start = text.indexOf(find); start !== -1; start = text.indexOf(find, start + step)) {
    add({ start, end: start + find.length })
    yield
  }
}

/** False where a looser pass can find nothing new, or where a blank text would fit every blank line. */
const isWorthwhile = ({ text }: TextFile, find: string, pass: FindPass): boolean =>
  pass === "line_endings" ? find.includes("\n") && (text.includes("\r") || find.includes("\r")) : find.trim() !== ""

/** Whole lines that differ only in how their words are spaced. */
function* findBySpacing(file: TextFile, find: string, add: Add): Parts {
  const spaced = (line: string): string => line.trim().replace(/\s+/g, " ")
  const given = find.split(lineEnd)
  const isOpen = given.length > 1 && given.at(-1) === ""
  const expected = isOpen ? given.slice(0, -1) : given
  const view: Array<string> = []
  for (let line = 0; line < file.lineCount; line++) {
    if (line % itemsInPart === 0) yield
    view.push(spaced(file.line(line)))
  }
  for (const line of yield* findLinesInParts(view, expected.map(spaced))) {
    const last = line + expected.length - 1
    if (isOpen && file.terminator(last) === "") continue
    const start = line === 0 && file.text.startsWith("\uFEFF") ? 1 : file.lineStart(line)
    const end = file.lineStart(last + 1) - (isOpen ? 0 : file.terminator(last).length)
    add({ start, end, pairs: pairsOf(given, file.text.slice(start, end)) })
  }
}

function* findByBlankLines(file: TextFile, find: string, add: Add): Parts {
  const given = find.split(lineEnd)
  for (const { from, to } of yield* findIgnoringBlankLines(file, given)) {
    const start = from === 0 && file.text.startsWith("\uFEFF") ? 1 : file.lineStart(from)
    const end = file.lineStart(to) - file.terminator(to - 1).length
    add({ start, end, blankLines: { given, found: file.text.slice(start, end).split(lineEnd) } })
  }
}

/** Line ending, in a request or in a file. */
export const lineEnd = /\r\n|\n|\r/

const pairsOf = (given: ReadonlyArray<string>, text: string): ReadonlyArray<LinePair> => {
  const found = text.split(lineEnd)
  return given.map((expected, index) => ({ expected, found: found[index] ?? "" }))
}

function* findByLines(
  file: TextFile,
  find: string,
  pass: Exclude<FindPass, "exact" | "spacing" | "blank_lines">,
  add: Add
): Parts {
  const given = find.split(file.lineBreak === "\n" ? /\r?\n/ : lineEnd)
  const lines = new ComparedLines(file, pass)
  if (given.length > lines.count) return
  const wanted = given.map((line) => comparable(line, pass))
  const [first = ""] = wanted
  const whole = pass === "indentation"
  const isOpen = given.length > 1 && given.at(-1) === ""
  // Spaces that the text to find ends with are only forgiven where a line of the file ends, too.
  const endsLine = !isOpen && (whole || (wanted.at(-1) ?? "").length < (given.at(-1) ?? "").length)
  const ends = { first, last: wanted.at(-1) ?? "", whole, isOpen, endsLine, isStrict: pass === "line_endings" }
  const addPlace = (place: FoundText | undefined): void => {
    if (place === undefined) return
    add(pass === "line_endings" ? place : { ...place, pairs: pairsOf(given, file.text.slice(place.start, place.end)) })
  }
  if (wanted.length === 1 && !endsLine) {
    yield* findExactly(lines.text, first, { overlapping: true, keep: 0 }, addPlace)
    return
  }
  if (wanted.length < 3) {
    for (let line = 0; line + wanted.length <= lines.count; line++) {
      if (line % itemsInPart === 0) yield
      addPlace(placeBetween(lines, line, line + wanted.length - 1, ends))
    }
    return
  }
  const between = lines.numbered(wanted.slice(1, -1))
  yield* occurrencesInParts({ from: 1, to: lines.count - 1, at: between.at }, between.numbers, (line) =>
    addPlace(placeBetween(lines, line - 1, line + wanted.length - 2, ends))
  )
}

interface Ends {
  readonly first: string
  readonly last: string
  /** The first and the last line have to be all of a line. */
  readonly whole: boolean
  /** The text to find ends with a newline. */
  readonly isOpen: boolean
  readonly endsLine: boolean
  /** Spaces at line ends count. */
  readonly isStrict: boolean
}

/** The first line may begin and the last line may end within a line of the file; those between are whole lines. */
const placeBetween = (
  lines: ComparedLines,
  top: number,
  bottom: number,
  { first, last, whole, isOpen, endsLine, isStrict }: Ends
): FoundText | undefined => {
  const [opening, closing] = [lines.at(top), lines.at(bottom)]
  const start = whole ? opening.start : opening.end - first.length
  if (start < opening.start || !lines.text.startsWith(first, start)) return undefined
  if (whole && start + first.length !== opening.end) return undefined
  const lastStart = top === bottom ? start : closing.start
  const end = lastStart + last.length
  if (end > closing.end || !lines.text.startsWith(last, lastStart)) return undefined
  if (endsLine && end !== closing.end) return undefined
  // Spaces behind the last line are its own: a line that is added below it does not get them.
  const isWholeLine = endsLine || (!isStrict && top !== bottom && end === closing.end)
  return { start: whole ? opening.from : start, end: isOpen ? closing.from : isWholeLine ? closing.to : end }
}

/** A line of a file: all of it but its newline, and the part of it that a pass compares. */
interface Bounds {
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}

/** A file's lines as a pass sees them. What follows the last newline counts as a line, also when it is empty. */
class ComparedLines {
  readonly count: number
  readonly text: string
  readonly #file: TextFile
  readonly #pass: FindPass

  constructor(file: TextFile, pass: FindPass) {
    this.#file = file
    this.#pass = pass
    this.text = pass === "look_alikes" ? foldLookAlikes(file.text) : file.text
    this.count = file.lineCount + (file.text === "" || file.text.endsWith(file.lineBreak) ? 1 : 0)
  }

  at(line: number): Bounds {
    const { text } = this
    const begin = this.#file.lineStart(line)
    // A byte order mark is no part of a line.
    const from = begin === 0 && text.startsWith("\uFEFF") ? 1 : begin
    const next = this.#file.lineStart(line + 1)
    const to = line < this.#file.lineCount ? Math.max(from, next - this.#file.terminator(line).length) : next
    let [start, end] = [from, to]
    if (this.#pass !== "line_endings") while (end > from && isSpace(text[end - 1])) end--
    if (this.#pass === "indentation") while (start < end && isSpace(text[start])) start++
    return { from, to, start, end }
  }

  /** Numbers for lines, the same for the same lines, and which of them each line of the file has. */
  numbered(wanted: ReadonlyArray<string>): {
    readonly numbers: ReadonlyArray<number>
    readonly at: (line: number) => number
  } {
    const known = new Map([...new Set(wanted)].map((line, index) => [line, index]))
    return {
      numbers: wanted.map((line) => known.get(line) ?? -1),
      at: (line) => {
        const { start, end } = this.at(line)
        return known.get(this.text.slice(start, end)) ?? -1
      }
    }
  }
}

const isSpace = (character: string | undefined): boolean => character === " " || character === "\t"

const comparable = (line: string, pass: FindPass): string => {
  if (pass === "line_endings") return line
  const text = pass === "look_alikes" ? foldLookAlikes(line) : line
  let [start, end] = [0, text.length]
  while (end > 0 && isSpace(text[end - 1])) end--
  if (pass === "indentation") while (start < end && isSpace(text[start])) start++
  return text.slice(start, end)
}
