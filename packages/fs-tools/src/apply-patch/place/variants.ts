import { withoutLineNumbers } from "../parse/line-numbers.ts"
import type { HunkLine } from "../patch.ts"

/** One way to read the lines of a hunk. */
export interface Variant {
  readonly lines: ReadonlyArray<HunkLine>
  readonly warning: string | undefined
}

/**
 * Other ways to read a hunk: without blank lines that only pad it; with context lines that came without their leading
 * space; and without line numbers pasted in from a reader.
 */
export const otherVariants = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<Variant> => {
  const unpadded = lines.slice(0, lines.findLastIndex(({ isBare }) => !isBare) + 1)
  const unmarked = withRestoredSpaces(unpadded)
  const unnumbered = withoutLineNumbers(unpadded)
  return [
    ...(unpadded.length < lines.length ? [{ lines: unpadded, warning: undefined }] : []),
    ...(unmarked === undefined
      ? []
      : [{ lines: unmarked, warning: "context lines without their leading space were read as context" }]),
    ...(unnumbered === undefined
      ? []
      : [{ lines: unnumbered, warning: "line numbers pasted in from a reader were left out" }])
  ]
}

/** Reads the first space of each context line as part of its text: the sign before it was forgotten. */
const withRestoredSpaces = (lines: ReadonlyArray<HunkLine>): ReadonlyArray<HunkLine> | undefined => {
  const isAffected = ({ sign, isBare, isUnsigned }: HunkLine): boolean => sign === " " && !isBare && isUnsigned !== true
  if (!lines.some((line) => isAffected(line) && /^\s/.test(line.text)) && !lines.some(({ isUnsigned }) => isUnsigned)) {
    return undefined
  }
  return lines.map((line) => (isAffected(line) ? { ...line, text: ` ${line.text}` } : line))
}
