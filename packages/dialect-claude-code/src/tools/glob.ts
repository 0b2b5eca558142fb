import { singleLine } from "@haft/core"
import { newestFiles } from "@haft/search-tools/operations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"

const mostFiles = 100

export const glob = claudeCode.tool({
  name: "Glob",
  operation: "find-files",
  description: "Find files by a glob such as **/*.ts, the most recently modified first, with absolute paths.",
  input: z.strictObject({
    pattern: z.string().describe("Glob, matched against paths relative to the directory"),
    path: z.string().optional().describe("Directory to look in; the workspace when absent")
  }),
  output: z.object({
    durationMs: z.number(),
    numFiles: z.number(),
    filenames: z.array(z.string()),
    truncated: z.boolean(),
    totalMatches: z.number().optional(),
    countIsComplete: z.boolean().optional()
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path = "." }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ pattern, path = "." }) {
    const began = yield* Clock.currentTimeMillis
    const { files, total } = yield* newestFiles({ path, pattern, includeIgnored: true })
    const filenames = files.slice(0, mostFiles)
    return {
      durationMs: (yield* Clock.currentTimeMillis) - began,
      numFiles: filenames.length,
      filenames,
      truncated: total > filenames.length,
      totalMatches: total,
      countIsComplete: true
    }
  }),
  render: ({ filenames, truncated }) => {
    if (filenames.length === 0) return "No files found"
    const note = "(Results are truncated. Consider using a more specific path or pattern.)"
    return [...filenames.map(singleLine), ...(truncated ? [note] : [])].join("\n")
  }
})
