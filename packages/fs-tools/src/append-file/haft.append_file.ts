import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { linkWarnings } from "../hard-links.ts"
import { planOnce } from "../plan-once.ts"
import { TextFile } from "../text-file.ts"
import { planAppend } from "./append-file.ts"

const input = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  content: z.string().min(1).describe("Text to add, newlines included"),
  create_directories: z.boolean().default(true).describe("Create missing directories")
})

const operation = planOnce((plan, { path, content, create_directories }: z.output<typeof input>) =>
  planAppend(plan, path, content, { createDirectories: create_directories })
)

export const haftAppendFile = haft.tool({
  name: "append_file",
  profile: "all",
  operation: "append-file",
  description: "Add text at the end of a file, or create it.",
  input,
  output: z.object({
    path: z.string(),
    change: z.enum(["created", "modified"]),
    fingerprint: z.string(),
    total_lines: z.number(),
    warnings: z.array(z.string())
  }),
  risk: "safe_write",
  idempotent: false,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { changes, result } = yield* operation.commit(call)
    // Directories on the way come before it.
    const written = changes.at(-1)
    const { lineCount } = result.after ?? TextFile.of(call.content)
    return {
      path: written?.path ?? call.path,
      change: result.change,
      fingerprint: written?.after ?? "",
      total_lines: lineCount,
      warnings: [...linkWarnings(changes)]
    }
  }),
  render: ({ path, change, total_lines, warnings }) =>
    [`${singleLine(path)} ${change}, ${total_lines} lines now`, ...warnings].join("\n")
})
