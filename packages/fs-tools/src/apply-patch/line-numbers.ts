import type { HunkLine } from "./patch.ts"

/** `12<tab>text`, `12: text`, `12→text` and `12|text`, as readers print them. */
const numbered = /^\s*(\d+)(?:\t|: ?|→|\| ?)/

/** The hunk without a reader's line numbers, or undefined when not every old line has one, counting upwards. */
export const withoutLineNumbers = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<HunkLine> | undefined => {
  const numbers = lines
    .filter(({ sign }) => sign !== "+")
    .map(({ text }) => numbered.exec(text)?.[1])
    .map((number) => (number === undefined ? undefined : Number(number)))
  const countsUp = numbers.every((number, index) => {
    const before = index === 0 ? undefined : numbers[index - 1]
    return number !== undefined && (before === undefined || number === before + 1)
  })
  if (numbers.length === 0 || !countsUp) return undefined
  return lines.map((line) => ({ ...line, text: line.text.replace(numbered, "") }))
}
