import type { HunkLine } from "../patch.ts"

/** `12<tab>text`, `12: text`, `12→text` and `12|text`, as readers print them. */
const numbered = /^\s*(\d+)([\t→:|])(.*)$/s

/**
 * The hunk without a reader's line numbers, or undefined when not every old line has one, counting upwards. An added
 * line may come without: it loses only what looks like the number of a line of this hunk.
 */
export const withoutLineNumbers = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<HunkLine> | undefined => {
  const read = lines.map((line) => Object.assign({ line }, readNumber(line.text)))
  const old = read.filter(({ line }) => line.sign !== "+")
  const [first] = old
  const countsUp = old.every(
    ({ number, mark }, index) => number === (first?.number ?? 0) + index && mark === first?.mark
  )
  if (first?.number === undefined || !countsUp) return undefined
  const { number: top, mark: reader } = first
  return read.map(({ line, number, mark, text }) => {
    const isOfHunk = number !== undefined && mark === reader && number >= top && number < top + lines.length
    return isOfHunk ? Object.assign({}, line, { text }) : line
  })
}

const readNumber = (line: string): { readonly number?: number; readonly mark?: string; readonly text: string } => {
  const [, number, mark = "", text = ""] = numbered.exec(line) ?? []
  if (number === undefined) return { text: line }
  return { number: Number(number), mark, text: mark === ":" || mark === "|" ? text.replace(/^ /, "") : text }
}
