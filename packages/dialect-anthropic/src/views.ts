import { type ListError, type ReadError, singleLine, toolError, type ToolError, Workspace } from "@haft/core"
import { readLines } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"

/** First and last line of a view, counted from 1; -1 as the last line means the end of the file. */
export type ViewRange = readonly [first: number, last: number]

/** Lines with their numbers, as `cat -n` shows them. */
export const numbered = (lines: ReadonlyArray<string>, first: number): string =>
  lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join("\n")

/** A text split at its newlines: behind a final newline there is one more line, an empty one. */
export const linesOf = (text: string): ReadonlyArray<string> => text.split(/\r?\n/)

/** Of larger files, ranges of lines are viewed. */
const mostBytes = 256 * 1024

/** A file or a range of its lines, numbered. */
export const viewFile = Effect.fnUntraced(function* (
  path: string,
  [first, last]: ViewRange
): Effect.fn.Return<string, ReadError | ToolError<"binary_file" | "file_too_large">, Workspace> {
  const start = Math.max(1, first)
  if (last >= 0 && last < start) return ""
  const range = { start, ...(last >= 0 && { end: last }) }
  const { text, totalLines, cutByBytes } = yield* readLines(path, { ...range, anyEncoding: true, maxBytes: mostBytes })
  if (cutByBytes) {
    return yield* toolError("file_too_large", `the lines to view of ${path} have more than ${mostBytes} bytes`, {
      suggestion: "View fewer lines, with view_range."
    })
  }
  const isWithin = last >= 0 && last <= totalLines
  return numbered(linesOf(isWithin ? text.replace(/\r?\n$/, "") : text), start)
})

/** Sizes of directories where none is known: what most file systems give an empty one. */
const emptyDirectory = 4096

/** Files and directories, two levels deep, with their sizes. Hidden ones and node_modules are left out. */
export const viewDirectory = Effect.fnUntraced(function* (
  path: string,
  shown: string
): Effect.fn.Return<string, ListError, Workspace> {
  const workspace = yield* Workspace
  const found: Array<{ readonly path: string; readonly isDirectory: boolean }> = []
  yield* workspace.walk(path, (entry) => {
    if (entry.name.startsWith(".") || entry.name === "node_modules") return "skip"
    if (entry.kind === "file" || entry.kind === "directory") {
      found.push({ path: entry.path, isDirectory: entry.kind === "directory" })
    }
    return entry.depth >= 1 ? "skip" : "continue"
  })
  const sizeOf = (inside: string): Effect.Effect<number> =>
    workspace.info(inside).pipe(Effect.match({ onFailure: () => 0, onSuccess: ({ size }) => size }))
  const lines = yield* Effect.forEach(found, (entry) =>
    Effect.map(
      sizeOf(`${path}/${entry.path}`),
      (size) => `${shownSize(size)}\t${shown}/${singleLine(entry.path)}${entry.isDirectory ? "/" : ""}`
    )
  )
  return listing(shown, yield* sizeOf(path), lines)
})

/** View of a directory that nothing has been put into yet. */
export const viewNothing = (shown: string): string => listing(shown, emptyDirectory, [])

const listing = (shown: string, size: number, lines: ReadonlyArray<string>): string =>
  [
    `Here're the files and directories up to 2 levels deep in ${shown}, excluding hidden items and node_modules:`,
    `${shownSize(size)}\t${shown}`,
    ...lines
  ].join("\n")

const units = ["B", "K", "M", "G"]

const shownSize = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const size = bytes / 1024 ** power
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[power]}`
}
