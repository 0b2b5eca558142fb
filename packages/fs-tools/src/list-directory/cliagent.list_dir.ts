import { Workspace, singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listInOrder } from "./list-directory.ts"

const pageSize = 1000

export const cliagentListDir = cliagent.tool({
  name: "list_dir",
  operation: "list-directory",
  description: "List the contents of a directory: files first, then directories.",
  input: z.strictObject({
    path: z.string().default(".").describe("Directory, relative to the working directory"),
    page: z.number().int().min(1).default(1).describe("Which thousand entries to show, counted from 1")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ total_entries: z.number(), files: z.number(), directories: z.number() })
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, page }) {
    const workspace = yield* Workspace
    const contained = yield* workspace.contain(path)
    const { entries } = yield* listInOrder(path, {})
    const directories = entries.filter(({ kind }) => kind === "directory").map((entry) => `${entry.path}/`)
    const files = entries.filter(({ kind }) => kind !== "directory").map((entry) => entry.path)
    const shown = [...files, ...directories].slice((page - 1) * pageSize, page * pageSize)
    const pages = Math.ceil(entries.length / pageSize)
    const warning =
      pages > 1 ? `Warning: Found ${entries.length} entries, showing ${shown.length} (page ${page} of ${pages})\n` : ""
    const heading = `Contents of ${contained === "." ? "." : singleLine(`./${contained}`)}:\n`
    return {
      output: warning + heading + shown.map((name) => `  ${singleLine(name)}\n`).join(""),
      files_affected: [],
      metadata: { total_entries: entries.length, files: files.length, directories: directories.length }
    }
  }),
  render: ({ output }) => output,
  wording: {
    not_a_directory: (_error, { path }) => `Path '${path}' is not a directory`,
    file_not_found: (_error, { path }) => `Directory '${path}' not found`,
    permission_denied: () => "Cannot list directory - permission denied"
  }
})
