import type { DiffLine, DiffRow } from "./diff-rows.ts"

/** A line of a unified diff: one side of a change, or a line that both sides have. */
export interface UnifiedLine {
  readonly before?: DiffLine
  readonly after?: DiffLine
  /** The line that replaced it, or that it replaced. */
  readonly other?: DiffLine
}

/** Rows of a split diff as lines of a unified one: in every block of changes the removed lines come first. */
export const unifiedRows = (rows: ReadonlyArray<DiffRow>): ReadonlyArray<UnifiedLine> => {
  const lines: Array<UnifiedLine> = []
  let added: Array<UnifiedLine> = []
  for (const { before, after } of rows) {
    if (before !== undefined && after !== undefined && !before.isChanged && !after.isChanged) {
      for (const line of added) lines.push(line)
      lines.push({ before, after })
      added = []
      continue
    }
    if (before !== undefined) lines.push({ before, ...(after !== undefined && { other: after }) })
    if (after !== undefined) added.push({ after, ...(before !== undefined && { other: before }) })
  }
  return [...lines, ...added]
}
