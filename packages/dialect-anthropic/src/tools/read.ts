import { singleLine, Workspace } from "@haft/core"
import { readLines } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"
import { inFileWords } from "../file-failures.ts"

const mostBytes = 256 * 1024

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  view_range: z
    .array(z.int())
    .optional()
    .describe("First and last line, counted from 1; -1 as the last line means the end of the file")
})

export const read = anthropic.tool({
  name: "read",
  operation: "read-file",
  description: "Read a text file, or a range of its lines. UTF-8, UTF-16 with a byte order mark and Latin-1 are text.",
  input,
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ reads: [file_path] }),
  execute: (call) => Effect.map(readRange(call).pipe(inFileWords("read", call.file_path)), (output) => ({ output })),
  render: ({ output }) => output
})

const readRange = Effect.fnUntraced(function* ({ file_path, view_range: range = [] }: z.output<typeof input>) {
  const shown = singleLine(file_path)
  if (range.length !== 0 && range.length !== 2) {
    return yield* worded("invalid_params", "read: view_range must be [start_line, end_line]")
  }
  const workspace = yield* Workspace
  const { size } = yield* workspace.info(file_path)
  const [first = 1, last = -1] = range
  if (range.length === 0) {
    if (size > mostBytes) {
      return yield* worded(
        "file_too_large",
        `read: ${shown} is ${size} bytes, exceeds ${mostBytes}-byte limit. Use the view_range parameter to read specific line ranges, e.g. view_range: [1, 500].`
      )
    }
    return (yield* readLines(file_path, { anyEncoding: true })).text
  }
  const start = Math.max(1, first)
  if (last > 0 && last < start) return ""
  const { text, totalLines, cutByBytes } = yield* readLines(file_path, {
    start,
    ...(last > 0 && { end: last }),
    anyEncoding: true,
    maxBytes: mostBytes
  })
  if (cutByBytes) {
    return yield* worded(
      "file_too_large",
      `read: view_range [${first}, ${last}] of ${shown} exceeds ${mostBytes}-byte limit. Narrow the view_range to read a smaller portion.`
    )
  }
  return last > 0 && last <= totalLines ? text.replace(/\n$/, "") : text
})
