import { type DiffRow, rowsOf } from "./diff-rows.ts"

export interface DiffFile {
  readonly before: string
  readonly after: string
  readonly hunks: ReadonlyArray<DiffHunk>
}

export interface DiffHunk {
  /** The text after the second @@, usually the function that the change is in. */
  readonly title: string
  readonly rows: ReadonlyArray<DiffRow>
}

/** Reads a unified diff, or a patch with `*** Update File:` sections. Lines it does not know are left out. */
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
    if (open !== undefined && takeCounted(open, line)) continue
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

/** The diff that leads back: before and after are swapped. */
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

/** Adds a line that the header of the hunk has counted; false when there are no more of these. */
const takeCounted = ({ left, lines }: OpenHunk, line: string): boolean => {
  if (left === undefined) return false
  if (!line.startsWith("\\")) {
    if (left[0] <= 0 && left[1] <= 0) return false
    if (!line.startsWith("+")) left[0]--
    if (!line.startsWith("-")) left[1]--
  }
  lines.push(line)
  return true
}

const nameIn = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/^[ab]\//, "")
