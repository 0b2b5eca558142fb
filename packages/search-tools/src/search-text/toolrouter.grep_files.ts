import { singleLine } from "@haft/core"
import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireDirectory } from "./require-directory.ts"
import { searchText } from "./search-text.ts"

/** The contract sets no upper bound; more than this many matches are never returned. */
const maximumMatches = 10_000

export const toolrouterGrepFiles = toolrouter.tool({
  name: "grep_files",
  operation: "search-text",
  description: "Search the files below a directory by regular expression; results are grouped by file.",
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe("Regular expression to look for"),
    path: z.string().default(".").describe("Directory to search below"),
    include: z.array(z.string().min(1).max(1000)).nullable().default(null).describe("Globs of the files to search"),
    limit: z.number().int().min(1).default(200).describe("Matches to return at most")
  }),
  output: z.object({
    results: z.array(
      z.object({ file: z.string(), matches: z.array(z.object({ line_num: z.number(), line: z.string() })) })
    )
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ pattern, path, include, limit }) {
    yield* requireDirectory(path)
    const { directory, matches } = yield* searchText({
      query: pattern,
      isRegex: true,
      caseSensitive: true,
      path,
      include: include ?? [],
      maxResults: Math.min(limit, maximumMatches),
      contextLines: 0,
      countAll: false
    })
    const below = directory === "." ? 0 : directory.length + 1
    const byFile = Map.groupBy(matches, (match) => match.path.slice(below))
    return {
      results: [...byFile].map(([file, found]) => ({
        file,
        matches: found.map(({ line, content }) => ({ line_num: line, line: content }))
      }))
    }
  }),
  render: ({ results }) =>
    results.length === 0
      ? "No matches"
      : results
          .map(({ file, matches }) =>
            [singleLine(file), ...matches.map(({ line_num, line }) => `  ${line_num}: ${line}`)].join("\n")
          )
          .join("\n")
})
