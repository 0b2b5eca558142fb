import { singleLine } from "@haft/core"
import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listBreadthFirst } from "./list-directory.ts"

const marks: Readonly<Record<string, string>> = { directory: "/", symlink: "@" }

export const toolrouterListDir = toolrouter.tool({
  name: "list_dir",
  operation: "list-directory",
  description: "List directory entries level by level, down to a depth.",
  input: z.strictObject({
    path: z.string().default(".").describe("Directory to begin in, relative to the workspace"),
    depth: z.number().int().min(0).default(2).describe("Levels to go down; 0 for the directory's own entries"),
    offset: z.number().int().min(0).default(0).describe("Entries to pass over"),
    limit: z.number().int().min(1).default(200).describe("Entries to give at most")
  }),
  output: z.object({ entries: z.array(z.string()) }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: ({ path, ...options }) =>
    Effect.map(listBreadthFirst(path, options), ({ entries }) => ({
      entries: entries.map((entry) => entry.path + (marks[entry.kind] ?? ""))
    })),
  render: ({ entries }) => entries.map(singleLine).join("\n")
})
