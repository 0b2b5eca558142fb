import { resolve } from "node:path"

import { singleLine, Workspace } from "@haft/core"
import { readLines } from "@haft/fs-tools/operations"
import { findFiles, pathMatcher } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli } from "../dialect.ts"

const mostFiles = 1000
const mostBytes = 1024 * 1024

const usualExcludes = [
  "**/node_modules/**",
  "**/.git/**",
  "**/dist/**",
  "**/build/**",
  "**/coverage/**",
  "**/__pycache__/**"
]

const globs = z.array(z.string().min(1))

export const readManyFiles = geminiCli.tool({
  name: "read_many_files",
  operation: "read-file",
  description: "Read all text files that match some globs, one after the other, each below its path.",
  input: z.strictObject({
    include: globs.min(1).describe("Globs of files to read, relative to the workspace"),
    exclude: globs.default([]).describe("Globs of files to leave out"),
    recursive: z.boolean().default(true).describe("Accepted; ** in a glob goes into directories"),
    useDefaultExcludes: z.boolean().default(true).describe("Leave out dependencies, build output and the like"),
    file_filtering_options: z
      .strictObject({
        respect_git_ignore: z.boolean().optional().describe("Leave out what .gitignore names; true when absent"),
        respect_gemini_ignore: z.boolean().optional().describe("Accepted; .geminiignore is not read here")
      })
      .optional()
      .describe("Which files are left out")
  }),
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: () => ({ reads: ["."] }),
  execute: Effect.fnUntraced(function* ({ include, exclude, useDefaultExcludes, file_filtering_options: filtering }) {
    const { root } = yield* Workspace
    const left = yield* Effect.forEach([...exclude, ...(useDefaultExcludes ? usualExcludes : [])], (one) =>
      pathMatcher(one)
    )
    const found = new Set<string>()
    for (const pattern of include) {
      const { paths } = yield* findFiles({
        path: ".",
        pattern,
        includeIgnored: filtering?.respect_git_ignore === false,
        maxResults: mostFiles,
        maxDepth: Number.POSITIVE_INFINITY
      })
      for (const path of paths) if (!left.some((matches) => matches(path))) found.add(path)
    }
    const parts: Array<string> = []
    let bytes = 0
    for (const path of [...found].toSorted().slice(0, mostFiles)) {
      // Files that are no text are left out, as the globs may match anything.
      const read = yield* Effect.result(readLines(path, { anyEncoding: true, maxBytes: mostBytes - bytes }))
      if (read._tag === "Failure") continue
      bytes += read.success.text.length
      parts.push(`--- ${singleLine(resolve(root, path))} ---\n\n${read.success.text}\n\n`)
      if (bytes >= mostBytes) break
    }
    if (parts.length === 0) {
      return { llmContent: "No files matching the criteria were found or all were skipped." }
    }
    return { llmContent: `${parts.join("")}\n--- End of content ---` }
  }),
  render: ({ llmContent }) => llmContent
})
