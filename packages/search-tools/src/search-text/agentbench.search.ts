import { agentbench } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { searchText } from "./search-text.ts"
import { headingOf, linesOf } from "./show/as-text.ts"

export const agentbenchSearch = agentbench.tool({
  name: "search",
  operation: "search-text",
  description: "Find lines that contain a text or match a regular expression; capital and small letters are the same.",
  input: z.strictObject({
    query: z.string().min(1).max(10_000).describe("Text to look for, or a regular expression with is_regex"),
    glob: z.string().min(1).max(1000).nullable().default(null).describe("Only files that match, such as **/*.py"),
    max_results: z.number().int().min(1).max(10_000).default(50).describe("Matches to return at most"),
    context_lines: z.number().int().min(0).max(10).default(2).describe("Lines to return before and after each match"),
    is_regex: z.boolean().default(false).describe("Read the query as a regular expression")
  }),
  output: z.object({
    matches: z.array(
      z.object({
        file: z.string(),
        line: z.number(),
        content: z.string(),
        context_before: z.array(z.string()),
        context_after: z.array(z.string())
      })
    ),
    truncated: z.boolean(),
    total_matches: z.number()
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: () => ({ reads: ["."] }),
  execute: ({ query, glob, max_results, context_lines, is_regex }) =>
    searchText({
      query,
      isRegex: is_regex,
      caseSensitive: false,
      path: ".",
      include: glob === null ? [] : [glob],
      maxResults: max_results,
      contextLines: context_lines,
      countAll: true
    }).pipe(
      Effect.map(({ matches, truncated, total }) => ({
        matches: matches.map(({ path, line, content, before, after }) => ({
          file: path,
          line,
          content,
          context_before: [...before],
          context_after: [...after]
        })),
        truncated,
        total_matches: total ?? 0
      }))
    ),
  render: ({ matches, total_matches }) =>
    [
      headingOf({ shown: matches.length, total: total_matches }),
      ...linesOf(
        matches.map(({ file, line, content, context_before, context_after }) => ({
          path: file,
          line,
          content,
          before: context_before,
          after: context_after
        }))
      )
    ].join("\n")
})
