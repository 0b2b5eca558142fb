import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { numberLines } from "./number-lines.ts"
import { readLines } from "./read-file.ts"

export const filetoolsFileRead = filetools.tool({
  name: "file.read",
  operation: "read-file",
  description: "Read a text file with line numbers, page by page if it is long.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    offset: z.number().int().min(1).default(1).describe("First line, counted from 1"),
    limit: z.number().int().min(1).optional().describe("Lines to return at most; all when absent")
  }),
  output: z.object({ content: z.string(), total_lines: z.number(), truncated: z.boolean() }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, offset, limit }) {
    const lines = yield* readLines(path, { start: offset, ...(limit !== undefined && { end: offset + limit - 1 }) })
    return {
      content: numberLines(lines.text, offset),
      total_lines: lines.totalLines,
      truncated: lines.cutByBytes || (lines.keptLines > 0 && offset + lines.keptLines - 1 < lines.totalLines)
    }
  }),
  render: ({ content }) => content
})
