import { readingArtifacts, readsOf } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { searchText } from "./search-text.ts"
import { headingOf, linesOf } from "./show/as-text.ts"
import { remarksOn } from "./show/remarks.ts"

const timeLimitMs = 30_000

export const haftSearchText = haft.tool({
  name: "search_text",
  operation: "search-text",
  description:
    "Find lines by regular expression or text, with the exact number of matches. Skips ignored and binary files.",
  input: z.strictObject({
    query: z.string().min(1).max(10_000).describe("Regular expression"),
    path: z.string().default(".").describe("Directory, file or artifact:…"),
    include: z
      .array(z.string().min(1).max(1000))
      .max(100)
      .default([])
      .describe("Globs of files: *.ts at any depth, src/**/*.ts, !*.min.js"),
    literal: z.boolean().default(false).describe("Query is plain text"),
    case_sensitive: z.boolean().default(true).describe("Match case"),
    include_ignored: z.boolean().default(false).describe("Search files in .gitignore, too"),
    context_lines: z.number().int().min(0).max(20).default(0).describe("Lines around each match"),
    max_results: z.number().int().min(1).max(1000).default(100).describe("Most matches to show")
  }),
  output: z.object({
    matches: z.array(
      z.object({
        path: z.string(),
        line: z.number(),
        content: z.string(),
        context_before: z.array(z.string()).optional(),
        context_after: z.array(z.string()).optional()
      })
    ),
    total_matches: z.number(),
    files_with_matches: z.number(),
    truncated: z.boolean(),
    timed_out: z.boolean(),
    remarks: z.array(z.string())
  }),
  examples: [
    { query: "TODO|FIXME", path: "src", include: ["*.ts"] },
    { query: "a[0]", literal: true, context_lines: 2 }
  ],
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: readsOf(path) }),
  execute: (input) =>
    readingArtifacts(input.path, (path) =>
      searchText({
        query: input.query,
        isRegex: !input.literal,
        caseSensitive: input.case_sensitive,
        path,
        include: input.include,
        includeIgnored: input.include_ignored,
        maxResults: input.max_results,
        contextLines: input.context_lines,
        countAll: true,
        timeLimitMs,
        explainNothing: true
      })
    ).pipe(
      Effect.map((found) => ({
        matches: found.matches.map(({ path, line, content, before, after }) => ({
          path: readsOf(input.path).length === 0 ? input.path : path,
          line,
          content,
          ...(input.context_lines > 0 && { context_before: [...before], context_after: [...after] })
        })),
        total_matches: found.total ?? 0,
        files_with_matches: found.matchingFiles,
        truncated: found.truncated,
        timed_out: found.timedOut,
        remarks: [
          ...(found.timedOut
            ? [`The search was stopped after ${timeLimitMs / 1000} s; these are partial results.`]
            : []),
          ...remarksOn(found, { includeIgnored: "Set include_ignored to see them.", globs: "include" })
        ]
      }))
    ),
  render: ({ matches, total_matches, remarks }) =>
    [
      headingOf({ shown: matches.length, total: total_matches }),
      ...linesOf(matches.map((match) => ({ ...match, before: match.context_before, after: match.context_after }))),
      ...remarks
    ].join("\n")
})
