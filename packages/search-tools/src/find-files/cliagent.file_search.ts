import { makeToolError, singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { findFiles, remarksOn } from "./find-files.ts"

export const cliagentFileSearch = cliagent.tool({
  name: "file_search",
  operation: "find-files",
  description: "Find files by a glob pattern: *.py in the base directory, **/*.py at any depth.",
  input: z.strictObject({
    pattern: z.string().min(1).describe("Glob pattern, such as **/*.py or src/**/*.go"),
    base_path: z.string().default(".").describe("Directory to search from; the working directory when absent")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ matches: z.number(), pattern: z.string() })
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ base_path }) => ({ reads: [base_path] }),
  execute: ({ pattern, base_path }) =>
    findFiles({ path: base_path, pattern, maxResults: 1000, maxDepth: 20, hintAtIgnored: true }).pipe(
      Effect.map(({ paths, total, truncated, ...found }) => ({
        output: [
          ...(truncated ? [`Warning: Found ${total} matches, showing first ${paths.length}`] : []),
          `Found ${total} ${total === 1 ? "file" : "files"} matching '${pattern}'${total === 0 ? "" : ":"}`,
          ...paths.map((path) => `  ${singleLine(path)}`),
          ...remarksOn(found, { includeIgnored: "list_dir shows them." }).map((remark) => `Note: ${remark}`)
        ].join("\n"),
        files_affected: [],
        metadata: { matches: total, pattern }
      })),
      // The message is the contract's, so what is wrong goes beside it.
      Effect.mapError((error) => {
        const { code, message, suggestion = "", details = {} } = error
        const problem = message.slice(message.lastIndexOf("': ") + 3)
        return code === "invalid_pattern"
          ? makeToolError(code, message, { suggestion: `The problem: ${problem}. ${suggestion}`, details })
          : error
      })
    ),
  render: ({ output }) => output,
  wording: {
    invalid_pattern: (_error, { pattern }) => `Invalid glob pattern '${pattern}'`
  }
})
