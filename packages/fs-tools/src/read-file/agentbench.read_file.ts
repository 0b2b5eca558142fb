import { agentbench } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { readLines, requireStart } from "./read-file.ts"

const maxLines = 10_000

export const agentbenchReadFile = agentbench.tool({
  name: "read_file",
  operation: "read-file",
  description: "Read a text file of the workspace, whole or a range of its lines.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    start_line: z.number().int().min(1).nullable().default(null).describe("First line, counted from 1"),
    end_line: z.number().int().min(1).nullable().default(null).describe("Last line, included")
  }),
  output: z.object({
    content: z.string(),
    truncated: z.boolean(),
    total_lines: z.number(),
    start_line: z.number(),
    end_line: z.number(),
    omitted_lines: z.number().optional()
  }),
  risk: "read_only",
  timeout: "10 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, start_line, end_line }) {
    const range = { start: start_line ?? 1, maxLines, ...(end_line !== null && { end: end_line }) }
    const lines = yield* requireStart(yield* readLines(path, range), { start: start_line, end: end_line })
    const place = { total_lines: lines.totalLines, start_line: lines.start, end_line: lines.end }
    const omitted_lines = lines.omittedLines
    if (omitted_lines === 0 && !lines.cutByBytes) return { content: lines.text, truncated: false, ...place }
    const ended = lines.text.endsWith("\n") ? lines.text : `${lines.text}\n`
    const marker = omitted_lines === 0 ? "[the rest of the line left out]\n" : `[${omitted_lines} lines left out]\n`
    return { content: ended + marker + lines.tail, truncated: true, ...place, omitted_lines }
  }),
  render: ({ content }) => content
})
