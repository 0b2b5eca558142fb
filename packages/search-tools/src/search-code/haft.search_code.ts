import { type CodeMatch, defineTool, singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { searchCode, searchTouches } from "./search-code.ts"

const output = z.object({
  results: z.array(
    z.object({
      path: z.string(),
      start_line: z.number(),
      end_line: z.number(),
      symbol: z.string().optional(),
      kind: z.string().optional(),
      signature: z.string().optional(),
      snippet: z.string(),
      snippet_line: z.number(),
      score: z.number(),
      why: z.string(),
      also: z.array(z.object({ symbol: z.string(), kind: z.string(), line: z.number() }))
    })
  ),
  truncated: z.boolean(),
  remarks: z.array(z.string())
})

const definition = {
  name: "search_code",
  profile: "coding",
  operation: "search-code",
  description:
    "Find code by what it does or is called, such as 'where are retries delayed': files by relevance, with the best " +
    "definition and a snippet. For exact text use search_text.",
  input: z.strictObject({
    query: z.string().min(1).max(1000).describe("Description or identifiers"),
    path: z.string().default(".").describe("Directory or file"),
    max_results: z.number().int().min(1).max(50).default(10).describe("Most files to return")
  }),
  output,
  risk: "read_only",
  timeout: "2 minutes",
  touches: searchTouches,
  execute: (input: { readonly query: string; readonly path: string; readonly max_results: number }) =>
    searchCode({ query: input.query, path: input.path, limit: input.max_results }).pipe(
      Effect.map(({ items, total, remarks }) => ({
        results: items.map(resultOf),
        truncated: total > items.length,
        remarks: [...remarks]
      }))
    ),
  render: ({ results, remarks }: z.output<typeof output>) =>
    [results.length === 0 ? "No matching code." : "", ...results.map(textOf), ...remarks]
      .filter((text) => text !== "")
      .join("\n\n")
} as const

type Result = z.output<typeof output>["results"][number]

const resultOf = ({ symbol, ...match }: CodeMatch) => ({
  path: match.path,
  start_line: match.startLine,
  end_line: match.endLine,
  ...(symbol !== undefined && {
    symbol: qualified(symbol),
    kind: symbol.kind,
    signature: symbol.signature
  }),
  snippet: match.snippet.join("\n"),
  snippet_line: match.snippetLine,
  score: Math.round(match.score * 10_000) / 10_000,
  why: match.why,
  also: match.alsoMatching.map((other) => ({ symbol: qualified(other), kind: other.kind, line: other.startLine }))
})

const qualified = ({ container, name }: { readonly container?: string; readonly name: string }): string =>
  container === undefined ? name : `${container}.${name}`

const textOf = ({ path, start_line, end_line, symbol, kind, why, snippet, snippet_line, also }: Result): string => {
  const what = symbol === undefined ? "" : ` ${kind} ${singleLine(symbol)}`
  const others = also.map((other) => `${singleLine(other.symbol)}:${other.line}`).join(", ")
  return [
    `${singleLine(path)}:${start_line}-${end_line}${what} (${why})`,
    ...snippet.split("\n").map((line, index) => `${snippet_line + index}: ${line}`),
    ...(others === "" ? [] : [`also: ${others}`])
  ].join("\n")
}

export const haftSearchCode = haft.tool(definition)
/** For hosts of other dialects, as an opt-in. */
export const anySearchCode = defineTool(definition)
