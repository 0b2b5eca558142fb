import type { ScannedFile } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { numberLines } from "./number-lines.ts"
import { lineFromEnd, readBytes, readLines, requireStart } from "./read-file.ts"

/** A fingerprint takes longer than finding lines; beyond this size it is left out. */
const fingerprintUpTo = 16 * 1024 * 1024

export const haftReadFile = haft.tool({
  name: "read_file",
  operation: "read-file",
  description: "Read a file, or some lines: UTF-8, UTF-16 with a byte order mark or Latin-1.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    start_line: z
      .number()
      .int()
      .refine((line) => line !== 0, "lines are counted from 1, or from the end with -1")
      .optional()
      .describe("First line, from 1; -20 reads the last 20"),
    end_line: z.number().int().min(1).optional().describe("Last line, included"),
    max_lines: z.number().int().min(1).max(100_000).default(2000).describe("Most lines to return"),
    line_numbers: z.boolean().default(false).describe("Put number and tab before each line"),
    encoding: z.enum(["text", "base64"]).default("text").describe("base64 returns all bytes")
  }),
  output: z.object({
    path: z.string(),
    content: z.string(),
    encoding: z.string(),
    start_line: z.number().optional(),
    end_line: z.number().optional(),
    total_lines: z.number().optional(),
    truncated: z.boolean(),
    size: z.number(),
    modified: z.string(),
    fingerprint: z.string().optional()
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, start_line, end_line, max_lines, line_numbers, encoding }) {
    if (encoding === "base64") {
      const { content, info, fingerprint } = yield* readBytes(path)
      return {
        content: Buffer.from(content).toString("base64"),
        encoding: "base64",
        truncated: false,
        ...about({ ...info, fingerprint })
      }
    }
    const isFromEnd = start_line !== undefined && start_line < 0
    const start = isFromEnd ? yield* lineFromEnd(path, start_line) : (start_line ?? 1)
    const end = Math.min(end_line ?? Number.POSITIVE_INFINITY, start + max_lines - 1)
    const read = yield* readLines(path, { start, end, anyEncoding: true, fingerprintUpTo })
    // An empty file has an end, too, and nothing before it.
    const isUnasked = start_line === undefined || (isFromEnd && read.totalLines === 0)
    const lines = yield* requireStart(read, { start: isUnasked ? undefined : start, end: end_line })
    const lastAsked = Math.min(end_line ?? lines.totalLines, lines.totalLines)
    const lastKept = start + lines.keptLines - 1
    return {
      content: line_numbers ? numberLines(lines.text, start) : lines.text,
      encoding: lines.encoding,
      start_line: start,
      end_line: lastKept,
      total_lines: lines.totalLines,
      truncated: lastKept < lastAsked || lines.cutByBytes,
      ...about(lines.info)
    }
  }),
  render: ({ content, truncated, end_line = 0, total_lines }) => {
    if (!truncated) return content
    if (!content.endsWith("\n")) return `${content}\n[the rest of line ${end_line} left out]`
    return `${content}[lines ${end_line + 1} to ${total_lines} left out]`
  }
})

const about = ({ path, size, modified, fingerprint }: ScannedFile) => ({
  path,
  size,
  modified: new Date(modified).toISOString(),
  ...(fingerprint !== undefined && { fingerprint })
})
