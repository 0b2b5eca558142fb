import { editsBetween, type LineEdit } from "./line-edits.ts"
import { TextFile } from "./text-file.ts"

/** One file before and after; undefined where it is not there. */
export interface FileChange {
  readonly oldPath: string | undefined
  readonly newPath: string | undefined
  readonly before: TextFile | undefined
  readonly after: TextFile | undefined
}

const contextLines = 3
const empty = TextFile.of("")

/** A change of one file as a unified diff with git's `a/` and `b/` prefixes; empty when no line differs. */
export const unifiedDiff = ({ oldPath, newPath, before = empty, after = empty }: FileChange): string => {
  const hunks = hunksOf(before, after)
  if (hunks === "" && oldPath === newPath) return ""
  const isMoved = oldPath !== undefined && newPath !== undefined && oldPath !== newPath
  const renamed = isMoved ? `rename from ${quoted(oldPath)}\nrename to ${quoted(newPath)}\n` : ""
  if (hunks === "" && isMoved) return renamed
  const names = [
    oldPath === undefined ? "/dev/null" : quoted(`a/${oldPath}`),
    newPath === undefined ? "/dev/null" : quoted(`b/${newPath}`)
  ]
  return `${renamed}--- ${names[0]}\n+++ ${names[1]}\n${hunks}`
}

// As git does: a name with control characters, a quote or a backslash stands in quotes, with C's escapes.
const quoted = (name: string): string =>
  /[\p{Cc}"\\]/u.test(name)
    ? `"${name.replace(/[\p{Cc}"\\]/gu, (character) => escapes[character] ?? octal(character))}"`
    : name

const escapes: Readonly<Record<string, string>> = {
  "\n": String.raw`\n`,
  "\t": String.raw`\t`,
  "\r": String.raw`\r`,
  '"': String.raw`\"`,
  "\\": String.raw`\\`
}

const octal = (character: string): string =>
  [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")

/** A stretch of a diff with the lines around it. */
export interface DiffHunk {
  /** From 1; the line before it, where none is removed. */
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** Each with its sign, ` `, `-` or `+`, and without its newline. */
  readonly lines: ReadonlyArray<string>
}

/** The hunks of a unified diff between two texts. */
export const diffHunks = (
  before: TextFile,
  after: TextFile,
  { context = contextLines }: { readonly context?: number } = {}
): ReadonlyArray<DiffHunk> => {
  const groups: Array<Array<LineEdit>> = []
  for (const edit of editsBetween(before, after)) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && edit.oldLine - (last.oldLine + last.removed) <= 2 * context) groups.at(-1)?.push(edit)
    else groups.push([edit])
  }
  return groups.map((group) => hunkOf(before, group, context))
}

const hunksOf = (before: TextFile, after: TextFile): string => diffHunks(before, after).map(hunkText).join("")

const hunkOf = (before: TextFile, edits: ReadonlyArray<LineEdit>, context: number): DiffHunk => {
  const [first] = edits
  const last = edits.at(-1)
  if (first === undefined || last === undefined) throw new TypeError("a hunk is made of one edit at least")
  const lead = Math.min(context, first.oldLine)
  const trail = Math.min(context, before.lineCount - last.oldLine - last.removed)
  const lines: Array<string> = []
  let line = first.oldLine - lead
  const put = (sign: string, text: string): void => {
    if (text.endsWith("\n")) lines.push(sign + text.slice(0, -1))
    else lines.push(sign + text, "\\ No newline at end of file")
  }
  const keepUntil = (end: number): void => {
    for (; line < end; line++) put(" ", lineOf(before, line))
  }
  for (const edit of edits) {
    keepUntil(edit.oldLine)
    for (; line < edit.oldLine + edit.removed; line++) put("-", lineOf(before, line))
    for (const added of edit.added) put("+", added)
  }
  keepUntil(line + trail)
  const oldStart = first.oldLine - lead
  const newStart = first.newLine - lead
  const oldLines = last.oldLine + last.removed + trail - oldStart
  const newLines = last.newLine + last.added.length + trail - newStart
  return {
    oldStart: oldLines === 0 ? oldStart : oldStart + 1,
    oldLines,
    newStart: newLines === 0 ? newStart : newStart + 1,
    newLines,
    lines
  }
}

const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): string =>
  `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.map((line) => `${line}\n`).join("")}`

const range = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)

const lineOf = (file: TextFile, line: number): string => file.text.slice(file.lineStart(line), file.lineStart(line + 1))
