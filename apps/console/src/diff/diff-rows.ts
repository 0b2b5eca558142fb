import { alignLines } from "./align-lines.ts"

/** Two lines side by side; one is absent where a line was only added or only removed. */
export interface DiffRow {
  readonly before?: DiffLine
  readonly after?: DiffLine
}

export interface DiffLine {
  /** Absent where the diff does not number its lines. */
  readonly number?: number
  readonly text: string
  readonly isChanged: boolean
}

interface HunkLines {
  readonly lines: ReadonlyArray<string>
  readonly before?: number
  readonly after?: number
}

/**
 * The lines of a hunk side by side. `before` and `after` are the numbers of its first lines, where the diff has any.
 */
export const rowsOf = (hunk: HunkLines): ReadonlyArray<DiffRow> => {
  const rows: Array<DiffRow> = []
  let { before, after } = hunk
  const numbered = (number: number | undefined, text: string, isChanged: boolean): DiffLine => ({
    ...(number !== undefined && { number }),
    text,
    isChanged
  })
  let removed: Array<DiffLine> = []
  let added: Array<DiffLine> = []
  const addRows = (ones: ReadonlyArray<DiffLine>, others: ReadonlyArray<DiffLine>): void => {
    for (let index = 0; index < Math.max(ones.length, others.length); index++) {
      const [one, other] = [ones[index], others[index]]
      rows.push({ ...(one !== undefined && { before: one }), ...(other !== undefined && { after: other }) })
    }
  }
  const endBlock = (): void => {
    let [i, j] = [0, 0]
    const texts = (block: ReadonlyArray<DiffLine>) => block.map(({ text }) => text)
    for (const [one, other] of alignLines(texts(removed), texts(added))) {
      addRows(removed.slice(i, one), added.slice(j, other))
      addRows(removed.slice(one, one + 1), added.slice(other, other + 1))
      i = one + 1
      j = other + 1
    }
    addRows(removed.slice(i), added.slice(j))
    removed = []
    added = []
  }
  for (const line of hunk.lines) {
    if (line.startsWith("-")) {
      if (added.length > 0) endBlock()
      removed.push(numbered(before, line.slice(1), true))
      before = before === undefined ? undefined : before + 1
      continue
    }
    if (line.startsWith("+")) {
      added.push(numbered(after, line.slice(1), true))
      after = after === undefined ? undefined : after + 1
      continue
    }
    endBlock()
    // "\ No newline at end of file" is about the line before it and has no number.
    if (line.startsWith("\\")) {
      rows.push({ before: { text: line, isChanged: false }, after: { text: line, isChanged: false } })
      continue
    }
    const text = line.slice(1)
    rows.push({ before: numbered(before, text, false), after: numbered(after, text, false) })
    before = before === undefined ? undefined : before + 1
    after = after === undefined ? undefined : after + 1
  }
  endBlock()
  return rows
}
