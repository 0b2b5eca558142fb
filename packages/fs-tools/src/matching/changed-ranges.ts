import { lineSteps } from "@haft/core"

import type { TextFile } from "../text-file.ts"

/** Lines of a file, both ends included, counted from 1. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/** The lines of the new text that are not in the old one. Where lines only went, the line now standing there. */
export const changedRanges = (before: TextFile, after: TextFile): ReadonlyArray<LineRange> => {
  // Only the lines around what differs are looked at.
  const { start, end, text } = after.changeFrom(before)
  const firstLine = before.lineAt(start)
  const from = before.lineStart(firstLine)
  const to = before.lineStart(before.lineAt(end) + 1)
  const old = linesOf(before.text.slice(from, to))
  const now = linesOf(before.text.slice(from, start) + text + before.text.slice(end, to))
  return lineSteps(old, now).map(({ newLine, added }) => {
    const first = Math.max(1, Math.min(firstLine + newLine + 1, after.lineCount))
    return { start: first, end: Math.max(first, firstLine + newLine + added) }
  })
}

const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
