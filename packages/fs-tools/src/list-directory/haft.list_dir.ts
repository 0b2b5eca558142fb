import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listInOrder, listMatching, withInfo } from "./list-directory.ts"

export const haftListDir = haft.tool({
  name: "list_dir",
  profile: "coding",
  operation: "list-directory",
  description: "List a directory.",
  input: z.strictObject({
    path: z.string().default(".").describe("Directory, relative to the workspace"),
    depth: z.number().int().min(0).max(1000).default(0).describe("Levels below it"),
    pattern: z.string().optional().describe("Glob of files: *.py for this level, **/*.py for any"),
    hidden: z.boolean().default(true).describe("Show dotfiles; .git is never shown"),
    page: z.number().int().min(1).default(1).describe("Page, from 1"),
    page_size: z.number().int().min(1).max(10_000).default(1000).describe("Entries on a page")
  }),
  output: z.object({
    entries: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(["file", "directory", "symlink", "other"]),
        size: z.number(),
        modified: z.string()
      })
    ),
    page: z.number(),
    more: z.boolean()
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, depth, pattern, hidden, page, page_size }) {
    const offset = (page - 1) * page_size
    const isShown = (name: string): boolean => hidden || !name.startsWith(".")
    const listing =
      pattern === undefined
        ? yield* listInOrder(path, { depth, offset, limit: page_size, include: ({ name }) => isShown(name) })
        : yield* matching(path, pattern, { offset, limit: page_size, isShown })
    const described = yield* withInfo(
      path,
      listing.entries.map((entry) => entry.path)
    )
    return {
      entries: described.map(({ path: name, info: { kind, size, modified } }) => ({
        path: name,
        kind,
        size,
        modified: new Date(modified).toISOString()
      })),
      page,
      more: listing.truncated
    }
  }),
  render: ({ entries, more, page }) =>
    [
      ...entries.map(
        ({ path, kind }) => singleLine(path) + (kind === "directory" ? "/" : kind === "symlink" ? "@" : "")
      ),
      ...(more ? [`[more on page ${page + 1}]`] : [])
    ].join("\n")
})

const matching = Effect.fnUntraced(function* (
  path: string,
  pattern: string,
  { offset, limit, isShown }: { offset: number; limit: number; isShown: (name: string) => boolean }
) {
  const { paths } = yield* listMatching(path, pattern)
  const shown = paths.filter((name) => name.split("/").every(isShown))
  return {
    entries: shown.slice(offset, offset + limit).map((name) => ({ path: name })),
    truncated: shown.length > offset + limit
  }
})
