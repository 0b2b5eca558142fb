import { visitOccurrences } from "./occurrences.ts"

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
