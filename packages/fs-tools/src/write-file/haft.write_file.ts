import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { linkWarnings } from "../hard-links.ts"
import { changedRanges } from "../matching/changed-ranges.ts"
import { omissionWarnings } from "../matching/omissions.ts"
import { snippetOf } from "../matching/snippet.ts"
import { planOnce } from "../plan-once.ts"
import { TextFile } from "../text-file.ts"
import { contentBytes, planWrite } from "./write-file.ts"

const input = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  content: z.string().describe("New content"),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("base64 for bytes"),
  create_directories: z.boolean().default(true).describe("Create missing directories"),
  overwrite: z.boolean().default(true).describe("False refuses if it exists"),
  expected_fingerprint: z.string().optional().describe("Refuse if the file changed since read_file reported this")
})

const optionsOf = ({ create_directories, overwrite, expected_fingerprint }: z.output<typeof input>) => ({
  createDirectories: create_directories,
  mustBeNew: !overwrite,
  base: expected_fingerprint
})

const operation = planOnce((plan, call: z.output<typeof input>) =>
  Effect.flatMap(contentBytes(call.content, call.encoding), (bytes) =>
    Effect.map(planWrite(plan, call.path, bytes, optionsOf(call)), (written) => ({ written, bytes }))
  )
)

export const haftWriteFile = haft.tool({
  name: "write_file",
  operation: "write-file",
  description: "Create a file or replace its content.",
  input,
  output: z.object({
    path: z.string(),
    change: z.enum(["created", "modified", "unchanged"]),
    size: z.number(),
    fingerprint: z.string(),
    total_lines: z.number().optional(),
    lines: z.array(z.object({ start: z.number(), end: z.number() })),
    snippet: z.string(),
    warnings: z.array(z.string())
  }),
  risk: "safe_write",
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { changes, result } = yield* operation.commit(call)
    const { bytes } = result
    const { before, ...written } = result.written
    const after = TextFile.decode(bytes)
    if (after === undefined) return { ...written, lines: [], snippet: "", warnings: [...linkWarnings(changes)] }
    const lines = changedRanges(before ?? TextFile.of(""), after)
    return {
      ...written,
      total_lines: after.lineCount,
      lines: [...lines],
      snippet: snippetOf(after, lines),
      warnings: [...linkWarnings(changes), ...omissionWarnings(call.content, before?.text ?? "")]
    }
  }),
  render: ({ path, change, size, warnings }) =>
    [`${singleLine(path)} ${change} (${size} bytes)`, ...warnings].join("\n")
})
