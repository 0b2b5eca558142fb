import { readLines } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli, worded } from "../dialect.ts"

const mostLines = 2000
const mostCharacters = 2000

const line = (what: string) => z.number().int().min(1).optional().describe(what)

export const readFile = geminiCli.tool({
  name: "read_file",
  operation: "read-file",
  description: `Read a text file, from start_line to end_line, at most ${mostLines} lines at a time.`,
  input: z.strictObject({
    file_path: z.string().describe("File, absolute or relative to the workspace"),
    start_line: line("First line, counted from 1"),
    end_line: line("Last line, included")
  }),
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ reads: [file_path] }),
  execute: ({ file_path, start_line, end_line }) =>
    Effect.map(readPart(file_path, start_line, end_line), (llmContent) => ({ llmContent })),
  render: ({ llmContent }) => llmContent
})

const readPart = Effect.fnUntraced(function* (path: string, from = 1, to = Number.MAX_SAFE_INTEGER) {
  const end = Math.min(to, from + mostLines - 1)
  const lines = yield* readLines(path, { start: from, end, anyEncoding: true }).pipe(
    Effect.mapError((error) => {
      if (error.code === "file_not_found") {
        return worded(error.code, "Could not read file because no file was found at the specified path.")
      }
      return error.code === "is_directory"
        ? worded(error.code, "Could not read file because the provided path is a directory, not a file.")
        : error
    })
  )
  // Lines are what newlines separate, so that a final newline counts as one more line, an empty one.
  const endsWithNewline = lines.end < lines.totalLines || lines.text.endsWith("\n") || lines.text === ""
  const total = lines.totalLines + (endsWithNewline && lines.totalLines > 0 ? 1 : 0)
  const isWhole = from === 1 && end >= total
  const shown = lines.text.split("\n").map(cut)
  if (isWhole) return shown.join("\n")
  const start = Math.min(from, total + 1)
  const last = Math.min(end, total)
  return `\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines ${start}-${last} of ${total} total lines.\nAction: To read more of the file, you can use the 'start_line' and 'end_line' parameters in a subsequent 'read_file' call. For example, to read the next section of the file, use start_line: ${last + 1}.\n\n--- FILE CONTENT (truncated) ---\n${shown.join("\n").replace(/\n$/, "")}`
})

const cut = (text: string): string =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters).toWellFormed()}... [truncated]` : text
