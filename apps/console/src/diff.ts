import { alignLines } from "./align-lines.ts"

export interface DiffFile {
  readonly before: string
  readonly after: string
  readonly hunks: ReadonlyArray<DiffHunk>
}

export interface DiffHunk {
  /** What stands after the second @@, as a rule the function the change is in. */
  readonly title: string
  readonly rows: ReadonlyArray<DiffRow>
}

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

/** Reads a unified diff, or the sections of a patch envelope. What it does not know it leaves out. */
export const parseDiff = (text: string): ReadonlyArray<DiffFile> => {
  const files: Array<DiffFile & { hunks: Array<DiffHunk> }> = []
  let open: OpenHunk | undefined
  const endHunk = (): void => {
    if (open !== undefined && open.lines.length > 0) {
      if (files.length === 0) files.push({ before: "", after: "", hunks: [] })
      files.at(-1)?.hunks.push({ title: open.title, rows: rowsOf(open) })
    }
    open = undefined
  }
  const lines = text.replace(/\n$/, "").split("\n")
  for (const [index, line] of lines.entries()) {
    // A removed line that begins with "-- " looks like a file's header: the hunk's own count says it is none.
    if (open !== undefined && isExpected(open, line)) {
      open.lines.push(line)
      continue
    }
    const next = lines[index + 1] ?? ""
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      endHunk()
      files.push({ before: nameIn(line), after: nameIn(next), hunks: [] })
      continue
    }
    const header = /^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@| @@)? ?(.*)$/.exec(line)
    if (header !== null) {
      endHunk()
      const [, before, beforeCount = "1", after, afterCount = "1", title = ""] = header
      open =
        before === undefined
          ? { title, lines: [] }
          : { title, lines: [], before: Number(before), after: Number(after), left: [+beforeCount, +afterCount] }
      continue
    }
    const section = /^\*\*\* (?:Add|Update|Delete) File: (.*)$/.exec(line)?.[1]
    if (section !== undefined) {
      endHunk()
      files.push({ before: section, after: section, hunks: [] })
      open = { title: "", lines: [] }
      continue
    }
    if (open?.left === undefined && !/^(\*\*\* |\+\+\+ )/.test(line)) open?.lines.push(line)
  }
  endHunk()
  return files
}

/** The way back: what was before stands after. */
export const reversed = (files: ReadonlyArray<DiffFile>): ReadonlyArray<DiffFile> =>
  files.map(({ before, after, hunks }) => ({
    before: after,
    after: before,
    hunks: hunks.map(({ title, rows }) => ({
      title,
      rows: rows.map((row) => ({
        ...(row.after !== undefined && { before: row.after }),
        ...(row.before !== undefined && { after: row.before })
      }))
    }))
  }))

interface OpenHunk {
  readonly title: string
  readonly lines: Array<string>
  readonly before?: number
  readonly after?: number
  /** Lines of the old and the new file that are still to come; absent where the header does not count them. */
  readonly left?: [before: number, after: number]
}

const isExpected = ({ left }: OpenHunk, line: string): boolean => {
  if (left === undefined) return false
  if (line.startsWith("\\")) return true
  if (left[0] <= 0 && left[1] <= 0) return false
  if (!line.startsWith("+")) left[0]--
  if (!line.startsWith("-")) left[1]--
  return true
}

const nameIn = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/^[ab]\//, "")

const rowsOf = ({ lines, ...begin }: OpenHunk): ReadonlyArray<DiffRow> => {
  const rows: Array<DiffRow> = []
  let { before, after } = begin
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
  for (const line of lines) {
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
