import { singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { type SearchResult, searchText } from "./search-text.ts"
import { remarksOn } from "./show/remarks.ts"

const timeLimitMs = 30_000
const advice = { includeIgnored: "read_file reads them.", globs: "file_pattern" }

export const cliagentGrepSearch = cliagent.tool({
  name: "grep_search",
  operation: "search-text",
  description: "Search the contents of text files for a text or a regular expression.",
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe("Text to look for, or a regular expression with is_regex"),
    is_regex: z.boolean().default(false).describe("Read the pattern as a regular expression"),
    file_pattern: z.string().min(1).max(1000).optional().describe("Glob of the files to search; all when absent"),
    max_results: z.number().int().min(1).max(1000).default(100).describe("Matches to show at most")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ total_matches: z.number(), files_searched: z.number(), pattern: z.string() })
  }),
  risk: "read_only",
  timeout: "50 seconds",
  touches: () => ({ reads: ["."] }),
  execute: ({ pattern, is_regex, file_pattern, max_results }) =>
    searchText({
      query: pattern,
      isRegex: is_regex,
      caseSensitive: true,
      path: ".",
      include: file_pattern === undefined ? [] : [file_pattern],
      maxResults: max_results,
      contextLines: 0,
      countAll: true,
      countFiles: true,
      timeLimitMs,
      explainNothing: true
    }).pipe(
      Effect.map((found) => ({
        output: describe(pattern, found),
        files_affected: [],
        metadata: { total_matches: found.total ?? 0, files_searched: found.filesSearched, pattern }
      }))
    ),
  render: ({ output }) => output,
  wording: {
    invalid_pattern: ({ message }) => message.charAt(0).toUpperCase() + message.slice(1)
  }
})

const describe = (pattern: string, found: SearchResult): string => {
  const total = found.total ?? 0
  const warnings = [
    ...(found.timedOut ? [`Warning: Search timed out after ${timeLimitMs / 1000}s, returning partial results`] : []),
    ...(found.truncated ? [`Warning: Found ${total} matches, showing first ${found.matches.length}`] : [])
  ]
  const heading = `Found ${total} ${total === 1 ? "match" : "matches"} for '${pattern}'${total === 0 ? "" : ":"}`
  const lines = found.matches.map(({ path, line, content }) => `  ${singleLine(path)}:${line}: ${content}`)
  return [...warnings, heading, ...lines, ...remarksOn(found, advice).map((remark) => `Note: ${remark}`)].join("\n")
}
