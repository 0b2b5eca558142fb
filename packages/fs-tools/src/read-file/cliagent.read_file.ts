import { Workspace } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { hexDump } from "./hex-dump.ts"
import { readLines, requireStart } from "./read-file.ts"

const maxBytes = 10 * 1024 * 1024
const binaryWarning = "Warning: File appears to be binary, displaying first 1KB as hex"

export const cliagentReadFile = cliagent.tool({
  name: "read_file",
  operation: "read-file",
  description: "Read a file of the working directory, whole or a range of its lines.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the working directory"),
    start_line: z.number().int().min(1).optional().describe("First line, counted from 1"),
    end_line: z.number().int().min(1).optional().describe("Last line, included")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ total_lines: z.number(), lines_returned: z.number(), file_size_bytes: z.number() })
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: ({ path, start_line, end_line }) =>
    readLines(path, { start: start_line ?? 1, maxBytes, ...(end_line !== undefined && { end: end_line }) }).pipe(
      Effect.flatMap((lines) => requireStart(lines, { start: start_line, end: end_line })),
      Effect.map((lines) => {
        const first = lines.keptLines === 0 ? 0 : lines.start
        const heading = `Contents of ${path} (lines ${first}-${first + Math.max(0, lines.keptLines - 1)}):`
        const warning = lines.cutByBytes ? "Warning: File is larger than 10MB, showing only the first 10MB\n" : ""
        return {
          output: `${warning}${heading}\n${lines.text}`,
          files_affected: [],
          metadata: {
            total_lines: lines.totalLines,
            lines_returned: lines.keptLines,
            file_size_bytes: lines.info.size
          }
        }
      }),
      Effect.catchIf(
        (error) => error.code === "binary_file",
        () => showBinary(path)
      )
    ),
  render: ({ output }) => output,
  wording: {
    is_directory: (_error, { path }) => `Path '${path}' is a directory, not a file`,
    permission_denied: (_error, { path }) => `Cannot read file '${path}' - permission denied`,
    invalid_range: ({ details }, { start_line, end_line }) =>
      `Line range invalid - file has ${String(details?.["total_lines"])} lines, requested ${start_line ?? 1}-${end_line ?? "end"}`
  }
})

const showBinary = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  const shown: Array<Uint8Array> = []
  const { size } = yield* workspace.scan(path, (chunk) => {
    shown.push(new Uint8Array(chunk.subarray(0, 1024)))
    return false
  })
  return {
    output: `${binaryWarning}\n${hexDump(shown[0] ?? new Uint8Array())}`,
    files_affected: [],
    metadata: { total_lines: 0, lines_returned: 0, file_size_bytes: size }
  }
})
