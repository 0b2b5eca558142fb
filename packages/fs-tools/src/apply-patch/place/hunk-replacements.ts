import type { TextReplacement, TextFile } from "../../text-file.ts"
import type { HunkLine } from "../patch.ts"

/** Lines of a file that a hunk takes out, and lines it puts in their place. */
interface Run {
  readonly from: number
  readonly removed: number
  readonly added: ReadonlyArray<HunkLine>
  /** True when one of its lines says that it has no newline. */
  readonly isMarked: boolean
}

/**
 * Replacements of a hunk once its place is known. Kept lines are not touched. `literal` writes new lines as
 * the patch spells them; otherwise they end as the lines around them do.
 */
export const hunkReplacements = (
  file: TextFile,
  lines: ReadonlyArray<HunkLine>,
  at: number,
  endings: "literal" | "adapted"
): ReadonlyArray<TextReplacement> =>
  runsOf(lines, at).map((run) => {
    const start = startOf(file, run, endings)
    const end = Math.max(start, file.lineStart(run.from + run.removed))
    const text = endings === "literal" ? literalText(file, run, start, end) : adaptedText(file, run)
    return { start, end, text }
  })

/** The first and the last line of a file that a hunk changes, the last one not included. */
export const changedRange = (
  lines: ReadonlyArray<HunkLine>,
  at: number
): { readonly start: number; readonly end: number } => {
  const runs = runsOf(lines, at)
  const last = runs.at(-1)
  return { start: runs[0]?.from ?? at, end: last === undefined ? at : last.from + last.removed }
}

const runsOf = (lines: ReadonlyArray<HunkLine>, at: number): ReadonlyArray<Run> => {
  const runs: Array<{ from: number; removed: number; added: Array<HunkLine>; isMarked: boolean }> = []
  let line = at
  let isInRun = false
  for (const hunkLine of lines) {
    if (hunkLine.sign === " ") {
      isInRun = false
      line++
      continue
    }
    if (!isInRun) runs.push({ from: line, removed: 0, added: [], isMarked: false })
    isInRun = true
    const run = runs.at(-1)
    if (run === undefined) continue
    if (hunkLine.noNewline) run.isMarked = true
    if (hunkLine.sign === "+") run.added.push(hunkLine)
    else {
      run.removed++
      line++
    }
  }
  return runs
}

// A byte order mark stays in front of the first line, unless the patch spells it out.
const startOf = (file: TextFile, { from }: Run, endings: "literal" | "adapted"): number =>
  from === 0 && endings === "adapted" && file.text.startsWith("\uFEFF") ? 1 : file.lineStart(from)

const literalText = (file: TextFile, { added }: Run, start: number, end: number): string => {
  const text = added.map((line) => line.text + (line.noNewline ? "" : "\n")).join("")
  const needsNewlineBefore = start > 0 && file.text[start - 1] !== "\n"
  const needsNewlineAfter = end < file.text.length && text !== "" && !text.endsWith("\n")
  return (needsNewlineBefore ? "\n" : "") + text + (needsNewlineAfter ? "\n" : "")
}

const adaptedText = (file: TextFile, { from, removed, added, isMarked }: Run): string => {
  if (added.length === 0) return ""
  const usual = nearestEnding(file, from)
  const endsFile = from + removed >= file.lineCount
  const lacksNewline = endsFile && file.lineCount > 0 && !file.endsWithNewline(file.lineCount - 1)
  const lines = added.map((line, index) => {
    const text = line.text.endsWith("\r") ? line.text.slice(0, -1) : line.text
    if (endsFile && index === added.length - 1 && (isMarked ? line.noNewline : lacksNewline)) return text
    const own = index < removed ? file.terminator(from + index) : ""
    return text + (own === "" ? usual : own)
  })
  return (removed === 0 && lacksNewline ? usual : "") + lines.join("")
}

/** How the line before ends, or else the file's first line. */
const nearestEnding = (file: TextFile, line: number): string => {
  const before = line > 0 ? file.terminator(Math.min(line, file.lineCount) - 1) : ""
  if (before !== "") return before
  const first = file.lineCount > 0 ? file.terminator(0) : ""
  return first === "" ? "\n" : first
}
