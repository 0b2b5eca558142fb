import { singleLine, toolError, type ToolError } from "@haft/core"
import { pathMatcher, type SearchResult, searchText } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { globsOfType } from "../file-types.ts"

const usualLimit = 250
const mostMatches = 10_000
const timeLimitMs = 20_000

const lines = (what: string) => z.number().optional().describe(what)

const input = z.strictObject({
  pattern: z.string().describe("Regular expression"),
  path: z.string().optional().describe("File or directory to search; the workspace when absent"),
  glob: z.string().optional().describe("Glob of files to search, such as *.{ts,tsx}"),
  output_mode: z
    .enum(["content", "files_with_matches", "count"])
    .default("files_with_matches")
    .describe("Matching lines, only the files that have some, or how many each has"),
  "-B": lines("Lines to show before each match; content only"),
  "-A": lines("Lines to show after each match; content only"),
  "-C": lines("Lines to show before and after each match; content only"),
  context: lines("The same as -C"),
  "-n": z.boolean().default(true).describe("Show line numbers; content only"),
  "-i": z.boolean().default(false).describe("Ignore upper and lower case"),
  "-o": z.boolean().optional().describe("Not supported here: lines are shown whole"),
  type: z.string().optional().describe("Type of files to search, such as js, py, rust"),
  head_limit: z.number().optional().describe(`Lines or files to return at most; ${usualLimit} when absent, all with 0`),
  offset: z.number().default(0).describe("Lines or files to pass over first"),
  multiline: z.boolean().optional().describe("Not supported here: a match is within one line")
})

type Call = z.output<typeof input>

const output = z.object({
  mode: z.enum(["content", "files_with_matches", "count"]),
  numFiles: z.number(),
  filenames: z.array(z.string()),
  content: z.string().optional(),
  numLines: z.number().optional(),
  numMatches: z.number().optional(),
  appliedLimit: z.number().optional(),
  appliedOffset: z.number().optional(),
  timedOut: z.boolean().optional()
})

export const grep = claudeCode.tool({
  name: "Grep",
  operation: "search-text",
  description:
    "Find lines by a regular expression of ripgrep, in files that .gitignore does not leave out. Long answers come in " +
    "parts: go on with offset.",
  input,
  output,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path = "." }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* (call) {
    yield* refuseUnsupported(call)
    const ofType = yield* globsOfType(call.type)
    const isOfType = yield* Effect.forEach(ofType, (one) => pathMatcher(one))
    const found = yield* searchText({
      query: call.pattern,
      isRegex: true,
      caseSensitive: !call["-i"],
      path: call.path ?? ".",
      include: call.glob === undefined ? ofType : globsIn(call.glob),
      maxResults: mostMatches,
      contextLines: call.output_mode === "content" ? Math.min(100, Math.max(...contextOf(call))) : 0,
      countAll: true,
      timeLimitMs
    })
    const matches = found.matches.filter(
      ({ path }) => isOfType.length === 0 || isOfType.some((matcher) => matcher(path.slice(path.lastIndexOf("/") + 1)))
    )
    return answerOf({ ...found, matches }, call)
  }),
  render: ({ mode, filenames, content = "", numMatches = 0, numFiles, appliedLimit, appliedOffset }) => {
    const shown = [
      ...(appliedLimit === undefined ? [] : [`limit: ${appliedLimit}`]),
      ...(appliedOffset === undefined ? [] : [`offset: ${appliedOffset}`])
    ].join(", ")
    const page = shown === "" ? "" : `[Showing results with pagination = ${shown}]`
    if (mode === "content") return [content === "" ? "No matches found" : content, page].filter(Boolean).join("\n\n")
    if (mode === "count") {
      const sum = `Found ${counted(numMatches, "total occurrence")} across ${counted(numFiles, "file")}.`
      return [
        content === "" ? "No matches found" : content,
        `${sum}${page === "" ? "" : ` with pagination = ${shown}`}`
      ].join("\n\n")
    }
    if (filenames.length === 0) return "No files found"
    return [`Found ${counted(numFiles, "file")}${shown === "" ? "" : ` ${shown}`}`, ...filenames.map(singleLine)].join(
      "\n"
    )
  }
})

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const refuseUnsupported = (call: Call): Effect.Effect<void, ToolError<"invalid_params">> => {
  const parameter = call.multiline === true ? "multiline" : call["-o"] === true ? "-o" : undefined
  if (parameter === undefined) return Effect.void
  return toolError(
    "invalid_params",
    `parameter '${parameter}': a match is within one line, and lines are shown whole`,
    {
      suggestion: "Leave it out, and search for one of the lines."
    }
  )
}

/** Several globs in one parameter, apart by spaces or commas; a comma inside of braces belongs to the glob. */
const globsIn = (globs: string): ReadonlyArray<string> =>
  globs
    .split(/\s+/)
    .flatMap((one) => (one.includes("{") ? [one] : one.split(",")))
    .filter((one) => one !== "")

const contextOf = (call: Call): readonly [before: number, after: number] => {
  const both = call.context ?? call["-C"]
  return [both ?? call["-B"] ?? 0, both ?? call["-A"] ?? 0]
}

const answerOf = (found: SearchResult, call: Call): z.output<typeof output> => {
  const mode = call.output_mode
  const counts = new Map<string, number>()
  for (const { path } of found.matches) counts.set(path, (counts.get(path) ?? 0) + 1)
  const all =
    mode === "content"
      ? contentLines(found, call)
      : mode === "count"
        ? [...counts].map(([path, count]) => `${singleLine(path)}:${count}`)
        : [...counts.keys()]
  const limit = call.head_limit === 0 ? Number.POSITIVE_INFINITY : (call.head_limit ?? usualLimit)
  const page = all.slice(call.offset, call.offset + limit)
  return {
    mode,
    numFiles: mode === "content" ? 0 : page.length,
    filenames: mode === "files_with_matches" ? page : [],
    ...(mode !== "files_with_matches" && { content: page.join("\n") }),
    ...(mode === "content" && { numLines: page.length }),
    ...(mode === "count" && {
      numMatches: page.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(":") + 1)), 0)
    }),
    ...(call.offset + limit < all.length && { appliedLimit: limit }),
    ...(call.offset > 0 && { appliedOffset: call.offset }),
    ...(found.timedOut && { timedOut: true })
  }
}

/** Lines as ripgrep prints them: `:` after a match, `-` after a line around one, `--` between groups. */
const contentLines = ({ matches }: SearchResult, call: Call): ReadonlyArray<string> => {
  const [before, after] = contextOf(call)
  const shown: Array<string> = []
  let last: { readonly path: string; readonly line: number } | undefined
  const put = (path: string, line: number, sign: ":" | "-", text: string): void => {
    if (last?.path === path && line <= last.line) return
    if (last !== undefined && before + after > 0 && (last.path !== path || line > last.line + 1)) shown.push("--")
    const number = call["-n"] ? `${line}${sign}` : ""
    shown.push(`${singleLine(path)}${sign}${number}${text}`)
    last = { path, line }
  }
  const isMatch = new Set(matches.map(({ path, line }) => `${line}:${path}`))
  for (const match of matches) {
    const { path, line } = match
    for (const [index, text] of match.before.slice(Math.max(0, match.before.length - before)).entries()) {
      put(path, line - Math.min(before, match.before.length) + index, "-", text)
    }
    put(path, line, ":", match.content)
    for (const [index, text] of match.after.slice(0, after).entries()) {
      if (isMatch.has(`${line + index + 1}:${path}`)) break
      put(path, line + index + 1, "-", text)
    }
  }
  return shown
}
