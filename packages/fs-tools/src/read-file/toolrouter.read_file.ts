import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { prefixLines } from "./number-lines.ts"
import { readLines } from "./read-file.ts"

export const toolrouterReadFile = toolrouter.tool({
  name: "read_file",
  operation: "read-file",
  description: "Read some lines of a text file, with a prefix before each line if wanted.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    offset: z.number().int().min(0).default(0).describe("Lines to skip; the first line is 0"),
    limit: z.number().int().min(1).default(400).describe("Lines to return at most"),
    mode: z.enum(["slice", "indentation"]).default("slice").describe("'indentation' puts the prefix before every line"),
    indent: z.string().default("    ").describe("The prefix for mode 'indentation'")
  }),
  output: z.object({ text: z.string(), truncated: z.boolean() }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, offset, limit, mode, indent }) {
    const lines = yield* readLines(path, { start: offset + 1, end: offset + limit })
    const text = mode === "slice" ? lines.text : prefixLines(lines.text, () => indent)
    return { text, truncated: lines.cutByBytes || offset + lines.keptLines < lines.totalLines }
  }),
  render: ({ text }) => text
})
