import type { Content } from "../services/change-plan.ts"
import { concatBytes } from "../text/concat-bytes.ts"
import { countNewlines } from "../text/count-newlines.ts"
import { type LineStep, lineSteps } from "./line-steps.ts"

/** One file before and after; a path is undefined where it is not there. */
export interface FileVersions {
  readonly oldPath: string | undefined
  readonly newPath: string | undefined
  readonly before?: Content | undefined
  readonly after?: Content | undefined
}

const contextLines = 3

/**
 * A change of one file as a unified diff with git's `a/` and `b/` prefixes; empty when no line differs, undefined when
 * one of the two is binary. Only the lines around what differs are decoded.
 */
export const unifiedDiff = ({ oldPath, newPath, before = empty, after = empty }: FileVersions): string | undefined => {
  const [old, now] = [textBytes(before), textBytes(after)]
  if (old === undefined || now === undefined) return undefined
  const hunks = hunksOf(old, now)
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

const empty = new Uint8Array()

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

/** The bytes of a text in an encoding whose line feed is one byte; undefined for binary content, which has a NUL. */
const textBytes = (content: Content): Uint8Array | undefined => {
  const bytes = content instanceof Uint8Array ? content : concatBytes(content)
  const encoding = utf16Of(bytes)
  if (encoding === undefined) return bytes.includes(0) ? undefined : bytes
  const text = new TextDecoder(encoding).decode(bytes)
  return text.includes("\0") ? undefined : new TextEncoder().encode(text)
}

/** Which UTF-16 a byte order mark tells of. That of UTF-32 begins alike and is none. */
const utf16Of = (bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  return isLittle && !(bytes[2] === 0 && bytes[3] === 0) ? "utf-16le" : undefined
}

/** A stretch of a unified diff, with the lines around what differs. */
export interface DiffHunk {
  /** From 1; the line before it where the hunk has none. */
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** Each with its sign, ` `, `-` or `+`, and without its newline. */
  readonly lines: ReadonlyArray<string>
}

/** The hunks of a unified diff between two versions of a file; undefined when one of them is binary. */
export const diffHunks = (
  before: Content,
  after: Content,
  { context = contextLines }: { readonly context?: number } = {}
): ReadonlyArray<DiffHunk> | undefined => {
  const [old, now] = [textBytes(before), textBytes(after)]
  return old === undefined || now === undefined ? undefined : hunksBetween(old, now, context)
}

const hunksOf = (old: Uint8Array, now: Uint8Array): string =>
  hunksBetween(old, now, contextLines).map(hunkText).join("")

const hunksBetween = (old: Uint8Array, now: Uint8Array, context: number): ReadonlyArray<DiffHunk> => {
  const { start: differs, end: oldEnd } = differenceBetween(old, now)
  if (differs === old.length && differs === now.length) return []
  // From some lines above to some lines below what differs.
  const start = startOfContext(old, differs, context)
  const end = endOfContext(old, oldEnd, context)
  const lines = linesOf(decode(old.subarray(start, end)))
  const added = linesOf(decode(now.subarray(start, now.length - (old.length - end))))
  const first = countNewlines(old.subarray(0, start))
  const groups: Array<Array<LineStep>> = []
  for (const step of lineSteps(lines, added)) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && step.oldLine - (last.oldLine + last.removed) <= 2 * context) groups.at(-1)?.push(step)
    else groups.push([step])
  }
  return groups.flatMap((group) => hunkOf(lines, added, group, { firstLine: first, context }))
}

const hunkOf = (
  old: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  steps: ReadonlyArray<LineStep>,
  { firstLine, context }: { readonly firstLine: number; readonly context: number }
): ReadonlyArray<DiffHunk> => {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) return []
  const lead = Math.min(context, first.oldLine)
  const trail = Math.min(context, old.length - last.oldLine - last.removed)
  const body: Array<string> = []
  const print = (sign: string, lines: ReadonlyArray<string>): void => {
    for (const line of lines) {
      if (line.endsWith("\n")) body.push(sign + line.slice(0, -1))
      else body.push(sign + line, "\\ No newline at end of file")
    }
  }
  let line = first.oldLine - lead
  for (const { oldLine, removed, newLine, added } of steps) {
    print(" ", old.slice(line, oldLine))
    print("-", old.slice(oldLine, oldLine + removed))
    print("+", now.slice(newLine, newLine + added))
    line = oldLine + removed
  }
  print(" ", old.slice(line, line + trail))
  const oldStart = firstLine + first.oldLine - lead
  const newStart = firstLine + first.newLine - lead
  const oldLines = firstLine + last.oldLine + last.removed + trail - oldStart
  const newLines = firstLine + last.newLine + last.added + trail - newStart
  return [
    {
      oldStart: oldLines === 0 ? oldStart : oldStart + 1,
      oldLines,
      newStart: newLines === 0 ? newStart : newStart + 1,
      newLines,
      lines: body
    }
  ]
}

const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): string =>
  `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.map((line) => `${line}\n`).join("")}`

const range = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)

const newline = 10

const startOfContext = (bytes: Uint8Array, changed: number, context: number): number => {
  let start = changed
  for (let lines = 0; lines <= context && start >= 0; lines++) {
    start = start === 0 ? -1 : bytes.lastIndexOf(newline, start - 1)
  }
  return start + 1
}

const endOfContext = (bytes: Uint8Array, changed: number, context: number): number => {
  let end = changed
  for (let lines = 0; lines <= context; lines++) {
    const next = bytes.indexOf(newline, end)
    if (next === -1) return bytes.length
    end = next + 1
  }
  return end
}

const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** UTF-8, or Latin-1 where it can't be that. */
const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
  }
}

/** Where the old bytes begin and cease to differ from the new ones. */
const differenceBetween = (old: Uint8Array, now: Uint8Array): { readonly start: number; readonly end: number } => {
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let same = 0
  while (same < most - start && old[old.length - 1 - same] === now[now.length - 1 - same]) same++
  return { start, end: old.length - same }
}
