import type { WalkEntry } from "@haft/core"
import { listInOrder, type ListedEntry } from "@haft/fs-tools/operations"
import { type PathMatcher, pathMatcher } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

export const directoryTree = mcpFilesystem.tool({
  name: "directory_tree",
  operation: "list-directory",
  description:
    "Everything below a directory as a tree in JSON: `name`, `type` (file or directory), and `children` of directories.",
  input: z.strictObject({
    path: z.string().describe("Directory, absolute or relative to the first allowed directory"),
    excludePatterns: z
      .array(z.string())
      .default([])
      .describe("Globs of paths that are left out; a name without * is left out at any depth")
  }),
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: Effect.fnUntraced(function* ({ path, excludePatterns }) {
    const located = yield* locate(path)
    const excluded = (yield* Effect.forEach(excludePatterns, exclusion)).flat()
    const include = (entry: WalkEntry): boolean => !excluded.some((matches) => matches(entry.path))
    const { entries } = yield* listInOrder(located.path, { depth: Number.POSITIVE_INFINITY, include }).pipe(
      inSystemWords({ call: "scandir", path: located.absolute })
    )
    return { content: JSON.stringify(treeOf(entries), null, 2) }
  }),
  render: ({ content }) => content
})

const exclusion = (
  pattern: string
): Effect.Effect<ReadonlyArray<PathMatcher>, Effect.Error<ReturnType<typeof pathMatcher>>> =>
  Effect.forEach(pattern.includes("*") ? [pattern] : [pattern, `**/${pattern}`, `**/${pattern}/**`], (one) =>
    pathMatcher(one)
  )

interface TreeEntry {
  readonly name: string
  readonly type: "file" | "directory"
  readonly children?: Array<TreeEntry>
}

/** Entries in the order of their paths, put below the directories that hold them. */
const treeOf = (entries: ReadonlyArray<ListedEntry>): ReadonlyArray<TreeEntry> => {
  const top: Array<TreeEntry> = []
  const below = new Map<string, Array<TreeEntry>>([["", top]])
  for (const { path, kind } of entries) {
    const slash = path.lastIndexOf("/")
    const siblings = below.get(slash < 0 ? "" : path.slice(0, slash))
    const name = path.slice(slash + 1)
    if (kind !== "directory") siblings?.push({ name, type: "file" })
    else {
      const children: Array<TreeEntry> = []
      below.set(path, children)
      siblings?.push({ name, type: "directory", children })
    }
  }
  return top
}
