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

const hunksOf = (before: TextFile, after: TextFile): string => {
  const edits = editsBetween(before, after)
  const groups: Array<Array<LineEdit>> = []
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && edit.oldLine - (last.oldLine + last.removed) <= 2 * contextLines)
      groups.at(-1)?.push(edit)
    else groups.push([edit])
  }
  return groups.map((group) => hunkText(before, group)).join("")
}

const hunkText = (before: TextFile, edits: ReadonlyArray<LineEdit>): string => {
  const [first] = edits
  const last = edits.at(-1)
  if (first === undefined || last === undefined) return ""
  const lead = Math.min(contextLines, first.oldLine)
  const trail = Math.min(contextLines, before.lineCount - last.oldLine - last.removed)
  const body: Array<string> = []
  let line = first.oldLine - lead
  const keepUntil = (end: number): void => {
    for (; line < end; line++) body.push(printed(" ", lineOf(before, line)))
  }
  for (const edit of edits) {
    keepUntil(edit.oldLine)
    for (; line < edit.oldLine + edit.removed; line++) body.push(printed("-", lineOf(before, line)))
    for (const added of edit.added) body.push(printed("+", added))
  }
  keepUntil(line + trail)
  const oldStart = first.oldLine - lead
  const newStart = first.newLine - lead
  const oldCount = last.oldLine + last.removed + trail - oldStart
  const newCount = last.newLine + last.added.length + trail - newStart
  return `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n${body.join("")}`
}

const range = (start: number, count: number): string => {
  if (count === 0) return `${start},0`
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`
}

const lineOf = (file: TextFile, line: number): string => file.text.slice(file.lineStart(line), file.lineStart(line + 1))

const printed = (sign: string, line: string): string =>
  sign + (line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`)
