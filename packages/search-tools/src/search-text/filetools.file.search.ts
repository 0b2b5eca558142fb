import { singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireDirectory } from "./require-directory.ts"
import { searchText } from "./search-text.ts"
import type { FoundMatch } from "./show/show-matches.ts"

export const filetoolsFileSearch = filetools.tool({
  name: "file.search",
  operation: "search-text",
  description: "Search file contents by regular expression, below the workspace or one of its directories.",
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe("Regular expression to look for"),
    path: z.string().default(".").describe("Directory to search; the workspace when absent"),
    glob: z.string().min(1).max(1000).optional().describe("Only files that match, such as *.py"),
    case_sensitive: z.boolean().default(true).describe("Tell capital and small letters apart"),
    context_lines: z.number().int().min(0).max(100).default(0).describe("Lines to show before and after each match"),
    max_results: z.number().int().min(1).max(10_000).default(100).describe("Matches to return at most")
  }),
  output: z.object({
    matches: z.array(z.object({ path: z.string(), line: z.number(), content: z.string() })),
    truncated: z.boolean()
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ pattern, path, glob, case_sensitive, context_lines, max_results }) {
    yield* requireDirectory(path)
    const { matches, truncated } = yield* searchText({
      query: pattern,
      isRegex: true,
      caseSensitive: case_sensitive,
      path,
      include: glob === undefined ? [] : [glob],
      maxResults: max_results,
      contextLines: context_lines,
      countAll: false
    })
    return {
      matches: matches.map((match) => ({
        path: match.path,
        line: match.line,
        content: context_lines === 0 ? match.content : withContext(match)
      })),
      truncated
    }
  }),
  render: ({ matches, truncated }) =>
    matches.length === 0
      ? "No matches"
      : [
          ...matches.map(
            ({ path, line, content }) => `${singleLine(path)}:${line}:${content.includes("\n") ? "\n" : " "}${content}`
          ),
          ...(truncated ? ["More matches are left out."] : [])
        ].join("\n")
})

const withContext = ({ before, content, after }: FoundMatch): string =>
  [...before.map((line) => `    ${line}`), `--> ${content}`, ...after.map((line) => `    ${line}`)].join("\n")
