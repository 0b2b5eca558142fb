import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { findFiles, remarksOn } from "./find-files.ts"

const advice = {
  goDeeper: "Raise max_depth, or set path further down.",
  includeIgnored: "Set include_ignored to see them."
}

export const haftFindFiles = haft.tool({
  name: "find_files",
  profile: "coding",
  operation: "find-files",
  description: "Find files by glob, sorted. Links are not followed. Skips ignored files.",
  input: z.strictObject({
    pattern: z.string().min(1).describe("Glob: *.ts for the directory itself, **/*.ts for any depth"),
    path: z.string().default(".").describe("Directory to search"),
    include_ignored: z.boolean().default(false).describe("Find files in .gitignore, too"),
    max_depth: z.number().int().min(0).max(100).default(20).describe("Most levels to descend"),
    max_results: z.number().int().min(1).max(10_000).default(1000).describe("Most files to return")
  }),
  output: z.object({
    files: z.array(z.string()),
    links: z.array(z.string()),
    total: z.number(),
    truncated: z.boolean(),
    remarks: z.array(z.string())
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: ({ pattern, path, include_ignored, max_depth, max_results }) =>
    findFiles({
      path,
      pattern,
      includeIgnored: include_ignored,
      includeLinks: true,
      maxResults: max_results,
      maxDepth: max_depth,
      hintAtIgnored: true
    }).pipe(
      Effect.map(({ paths, links = [], total, truncated, ...found }) => ({
        files: [...paths],
        links: [...links],
        total,
        truncated,
        remarks: [...remarksOn(found, advice)]
      }))
    ),
  render: ({ files, links, total, remarks }) => {
    const isLink = new Set(links)
    const shown = files.map((path) => singleLine(isLink.has(path) ? `${path}@` : path))
    return [`${total} ${total === 1 ? "file" : "files"}`, ...shown, ...remarks].join("\n")
  }
})
