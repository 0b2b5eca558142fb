import { itemsInPart, occurrencesInParts, type Parts, visitOccurrences } from "./occurrences.ts"

/** Where a run of lines begins among others, overlaps included. */
export const findLines = (
  lines: ReadonlyArray<string>,
  wanted: ReadonlyArray<string>,
  from = 0,
  to = lines.length
): ReadonlyArray<number> => {
  const found: Array<number> = []
  const range = { from: Math.max(0, from), to: Math.min(to, lines.length), at: (line: number) => lines[line] ?? "" }
  visitOccurrences(range, wanted, (line) => void found.push(line))
  return found
}

/** Where a run of lines begins among others, as {@link findLines} tells it, with pauses. */
export function* findLinesInParts(
  lines: ReadonlyArray<string>,
  wanted: ReadonlyArray<string>
): Parts<ReadonlyArray<number>> {
  const found: Array<number> = []
  const range = { from: 0, to: lines.length, at: (line: number) => lines[line] ?? "" }
  yield* occurrencesInParts(range, wanted, (line) => void found.push(line))
  return found
}

/** Lines by where they stand, for many searches in one file. */
export class LineIndex {
  readonly #lines: ReadonlyArray<string>
  readonly #places = new Map<string, Array<number>>()

  private constructor(lines: ReadonlyArray<string>) {
    this.#lines = lines
  }

  static *inParts(lines: ReadonlyArray<string>): Parts<LineIndex> {
    const index = new LineIndex(lines)
    for (const [at, line] of lines.entries()) {
      if (at % itemsInPart === itemsInPart - 1) yield
      const places = index.#places.get(line)
      if (places === undefined) index.#places.set(line, [at])
      else places.push(at)
    }
    return index
  }

  /** Where a run of lines begins, overlaps included, as {@link findLines} tells it. */
  find(wanted: ReadonlyArray<string>, from = 0, to = this.#lines.length): ReadonlyArray<number> {
    let rarest: { readonly offset: number; readonly places: ReadonlyArray<number> } | undefined
    for (const [offset, line] of wanted.entries()) {
      const places = this.#places.get(line) ?? []
      if (rarest === undefined || places.length < rarest.places.length) rarest = { offset, places }
    }
    if (rarest === undefined || rarest.places.length > repeatsIndexed) return findLines(this.#lines, wanted, from, to)
    const { offset, places } = rarest
    const end = Math.min(to, this.#lines.length)
    return places
      .map((place) => place - offset)
      .filter((start) => start >= Math.max(0, from) && start + wanted.length <= end)
      .filter((start) => wanted.every((line, at) => this.#lines[start + at] === line))
  }
}

/** Lines that stand more often are looked for in order: their places would be compared again and again. */
const repeatsIndexed = 1000
