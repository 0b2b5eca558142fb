import { singleLine, Workspace } from "@haft/core"
import { listInOrder } from "@haft/fs-tools/operations"
import { pathMatcher } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { absolutePath, locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

export const searchFiles = mcpFilesystem.tool({
  name: "search_files",
  operation: "find-files",
  description:
    "Find files and directories below a directory by a glob on their relative path: `*.ts` in the directory itself, " +
    "`**/*.ts` at any depth. Answers with absolute paths, one a line.",
  input: z.strictObject({
    path: z.string().describe("Directory, absolute or relative to the first allowed directory"),
    pattern: z.string().describe("Glob, matched against paths relative to the directory"),
    excludePatterns: z.array(z.string()).default([]).describe("Globs of paths that are left out, with all below them")
  }),
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: Effect.fnUntraced(function* ({ path, pattern, excludePatterns }) {
    const located = yield* locate(path)
    const { roots } = yield* Workspace
    const isMatch = yield* pathMatcher(pattern)
    const excluded = yield* Effect.forEach(excludePatterns, (one) => pathMatcher(one))
    const { entries } = yield* listInOrder(located.path, {
      depth: Number.POSITIVE_INFINITY,
      include: (entry) => !excluded.some((matches) => matches(entry.path))
    }).pipe(inSystemWords({ call: "scandir", path: located.absolute }))
    const found = entries
      .filter((entry) => isMatch(entry.path))
      .map((entry) => (located.path === "." ? entry.path : `${located.path}/${entry.path}`))
      .map((path) => singleLine(absolutePath(roots, path)))
    return { content: found.length === 0 ? "No matches found" : found.join("\n") }
  }),
  render: ({ content }) => content
})
