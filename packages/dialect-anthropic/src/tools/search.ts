import { isAbsolute, resolve } from "node:path"

import { singleLine, Workspace } from "@haft/core"
import { newestFiles, searchText } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"

const mostFiles = 200
const mostMatches = 10_000
const mostCharacters = 100 * 1024
const timeLimitMs = 60_000
/** A name `..` of its own, between separators or as an alternative in braces. */
const climbs = /(?<![^/\\{},])\.\.(?![^/\\{},])/

export const glob = anthropic.tool({
  name: "glob",
  operation: "find-files",
  description: "Find files by a glob such as **/*.ts, the most recently modified first, with absolute paths.",
  input: z.strictObject({
    pattern: z.string().describe("Glob, matched against paths relative to the directory"),
    path: z.string().optional().describe("Directory to look in; the workspace when absent")
  }),
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path = "." }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ pattern, path = "." }) {
    if (isAbsolute(pattern)) {
      return yield* worded(
        "invalid_pattern",
        "glob: absolute pattern not permitted; pass a relative pattern (and optionally path)"
      )
    }
    if (climbs.test(pattern)) {
      return yield* worded("invalid_pattern", 'glob: ".." is not permitted in the pattern')
    }
    const keeps = (file: string) => !file.split("/").includes("node_modules")
    const { files } = yield* newestFiles({ path, pattern, includeIgnored: true, keeps })
    return { output: files.length === 0 ? "no matches" : files.slice(0, mostFiles).map(singleLine).join("\n") }
  }),
  render: ({ output }) => output
})

export const grep = anthropic.tool({
  name: "grep",
  operation: "search-text",
  description: "Find lines by a regular expression of ripgrep, in files that .gitignore does not leave out.",
  input: z.strictObject({
    pattern: z.string().describe("Regular expression"),
    path: z.string().optional().describe("File or directory to search; the workspace when absent")
  }),
  output: answer,
  risk: "read_only",
  timeout: "90 seconds",
  touches: ({ path = "." }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ pattern, path = "." }) {
    const { root } = yield* Workspace
    const { matches, timedOut } = yield* searchText({
      query: pattern,
      isRegex: true,
      caseSensitive: true,
      path,
      include: [],
      maxResults: mostMatches,
      contextLines: 0,
      countAll: false,
      timeLimitMs
    }).pipe(
      Effect.mapError((error) =>
        error.code === "invalid_pattern" ? worded(error.code, `grep: rg failed: ${error.message}`) : error
      )
    )
    const lines = matches.map((match) => `${singleLine(resolve(root, match.path))}:${match.line}:${match.content}\n`)
    const found = lines.join("")
    const isCut = found.length > mostCharacters
    const shown = isCut ? found.slice(0, mostCharacters).toWellFormed() : found
    const notes = [
      ...(isCut ? [`\n[output truncated at ${mostCharacters} bytes]`] : []),
      ...(timedOut ? [`[the search was cut short after ${timeLimitMs} ms]`] : [])
    ]
    return { output: matches.length === 0 && notes.length === 0 ? "no matches" : [shown, ...notes].join("") }
  }),
  render: ({ output }) => output
})
