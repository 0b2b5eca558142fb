import { singleLine } from "@haft/core"
import { type SearchResult, searchText } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli } from "../dialect.ts"

const usualMatches = 100
/** Lines that are shown around the only match, so that it need not be read. */
const linesAroundOne = 50
const timeLimitMs = 30_000

const lines = (what: string) => z.number().int().min(0).optional().describe(what)

const input = z.strictObject({
  pattern: z.string().describe("Regular expression, or the text itself with fixed_strings"),
  dir_path: z.string().optional().describe("Directory or file to search; the workspace when absent"),
  include_pattern: z.string().optional().describe("Glob of files to search"),
  exclude_pattern: z.string().optional().describe("Regular expression of matching lines to leave out"),
  names_only: z.boolean().optional().describe("Only the files that have a match"),
  case_sensitive: z.boolean().optional().describe("Tell capital and small letters apart; false when absent"),
  fixed_strings: z.boolean().optional().describe("Take the pattern as plain text"),
  context: lines("Lines to show before and after each match"),
  after: lines("Lines to show after each match"),
  before: lines("Lines to show before each match"),
  no_ignore: z.boolean().optional().describe("Search what .gitignore leaves out, too"),
  max_matches_per_file: z.number().int().min(1).optional().describe("Matches to show of each file at most"),
  total_max_matches: z.number().int().min(1).optional().describe(`Matches at most; ${usualMatches} when absent`)
})

type Call = z.output<typeof input>
type Match = SearchResult["matches"][number]

export const grepSearch = geminiCli.tool({
  name: "grep_search",
  operation: "search-text",
  description: "Find lines by regular expression or literal text, with the lines around a match that is the only one.",
  input,
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ dir_path = "." }) => ({ reads: [dir_path] }),
  execute: Effect.fnUntraced(function* (call) {
    const most = call.total_max_matches ?? usualMatches
    const excluded = yield* excludedLines(call)
    const found = yield* search(call, { maxResults: most + excluded.size, contextLines: around(call) })
    const perFile = new Map<string, number>()
    const matches = found.matches
      .filter((match) => !excluded.has(keyOf(match)))
      .filter(({ path }) => {
        perFile.set(path, (perFile.get(path) ?? 0) + 1)
        return (perFile.get(path) ?? 0) <= (call.max_matches_per_file ?? Number.POSITIVE_INFINITY)
      })
      .slice(0, most)
    return {
      llmContent: shown(matches, call, matches.length < found.matches.length - excluded.size || found.truncated)
    }
  }),
  render: ({ llmContent }) => llmContent
})

const around = ({ context, before, after, names_only = false }: Call): number => {
  if (names_only) return 0
  const asked = [context, before, after].filter((count) => count !== undefined)
  return Math.min(100, asked.length === 0 ? linesAroundOne : Math.max(...asked))
}

const search = (
  call: Call,
  { maxResults, contextLines }: { readonly maxResults: number; readonly contextLines: number }
) =>
  searchText({
    query: call.pattern,
    isRegex: call.fixed_strings !== true,
    caseSensitive: call.case_sensitive === true,
    path: call.dir_path ?? ".",
    include: call.include_pattern === undefined ? [] : [call.include_pattern],
    includeIgnored: call.no_ignore === true,
    maxResults,
    contextLines,
    countAll: false,
    timeLimitMs
  })

/** Lines that the second expression finds, too. */
const excludedLines = Effect.fnUntraced(function* (call: Call) {
  if (call.exclude_pattern === undefined) return new Set<string>()
  const { matches } = yield* search(
    { ...call, pattern: call.exclude_pattern, fixed_strings: false },
    { maxResults: 10_000, contextLines: 0 }
  )
  return new Set(matches.map(keyOf))
})

const keyOf = ({ path, line }: Match): string => `${line}:${path}`

const shown = (matches: ReadonlyArray<Match>, call: Call, isCut: boolean): string => {
  const filter = call.include_pattern === undefined ? "" : ` (filter: "${call.include_pattern}")`
  const where = `${call.dir_path === undefined ? "in the workspace directory" : `in path "${singleLine(call.dir_path)}"`}${filter}`
  if (matches.length === 0) return `No matches found for pattern "${call.pattern}" ${where}.`
  const files = Map.groupBy(matches, ({ path }) => path)
  const limited = isCut ? ` (results limited to ${matches.length} matches for performance)` : ""
  if (call.names_only === true) {
    const found = `Found ${files.size} files with matches for pattern "${call.pattern}" ${where}${limited}:`
    return [found, ...[...files.keys()].map(singleLine)].join("\n")
  }
  const asked = [call.context, call.before, call.after].some((count) => count !== undefined)
  const [before, after] = asked
    ? [call.before ?? call.context ?? 0, call.after ?? call.context ?? 0]
    : matches.length === 1
      ? [linesAroundOne, linesAroundOne]
      : [0, 0]
  const found = `Found ${matches.length} match${matches.length === 1 ? "" : "es"} for pattern "${call.pattern}" ${where}${limited}:`
  const blocks = [...files].map(([path, own]) =>
    [`File: ${singleLine(path)}`, ...linesOf(own, before, after), "---"].join("\n")
  )
  return [found, "---", ...blocks].join("\n")
}

const linesOf = (matches: ReadonlyArray<Match>, before: number, after: number): ReadonlyArray<string> => {
  const texts = new Map<number, string>()
  for (const match of matches) {
    for (const [index, text] of match.before.slice(Math.max(0, match.before.length - before)).entries()) {
      const line = match.line - Math.min(before, match.before.length) + index
      if (!texts.has(line)) texts.set(line, `L${line}- ${text}`)
    }
    texts.set(match.line, `L${match.line}: ${match.content}`)
    for (const [index, text] of match.after.slice(0, after).entries()) {
      const line = match.line + index + 1
      if (!texts.has(line)) texts.set(line, `L${line}- ${text}`)
    }
  }
  return [...texts].toSorted(([one], [other]) => one - other).map(([, text]) => text)
}
