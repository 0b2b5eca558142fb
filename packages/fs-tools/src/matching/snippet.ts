import type { TextFile } from "../text-file.ts"
import type { LineRange } from "./changed-ranges.ts"

const contextLines = 3
const maximumLines = 40
const maximumWidth = 200

/** Changed lines with a few around them, numbered as `cat -n` does, so that nobody needs to read the file again. */
export const snippetOf = (file: TextFile, ranges: ReadonlyArray<LineRange>): string => {
  const shown: Array<string> = []
  let next = 0
  for (const { start, end } of ranges) {
    const first = Math.max(next, start - 1 - contextLines)
    const last = Math.min(file.lineCount, end + contextLines)
    if (first >= last) continue
    if (first > next && shown.length > 0) shown.push("…")
    for (let line = first; line < last; line++) {
      if (shown.length >= maximumLines) return [...shown, "…"].join("\n")
      shown.push(`${String(line + 1).padStart(6)}\t${cut(file.line(line).replace(/\r$/, ""))}`)
    }
    next = last
  }
  return shown.join("\n")
}

const cut = (line: string): string => (line.length > maximumWidth ? `${line.slice(0, maximumWidth)}…` : line)
