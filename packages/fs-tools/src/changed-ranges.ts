import { editsBetween } from "./line-edits.ts"
import type { TextFile } from "./text-file.ts"

/** Lines of a file, both ends included, counted from 1. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/** The lines of the new text that are not in the old one. Where lines only went, the line now standing there. */
export const changedRanges = (before: TextFile, after: TextFile): ReadonlyArray<LineRange> =>
  editsBetween(before, after).map(({ newLine, added }) => {
    const start = Math.max(1, Math.min(newLine + 1, after.lineCount))
    return { start, end: Math.max(start, newLine + added.length) }
  })
