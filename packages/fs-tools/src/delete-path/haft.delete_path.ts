import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { deletePath, previewDelete } from "./delete-path.ts"

export const haftDeletePath = haft.tool({
  name: "delete_path",
  operation: "delete-path",
  description: "Delete a file or a link, or a directory with everything in it when recursive is true.",
  input: z.strictObject({
    path: z.string().describe("What to delete, relative to the workspace"),
    recursive: z.boolean().default(false).describe("Needed for directories: everything below goes too")
  }),
  output: z.object({ deleted: z.array(z.string()) }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ path }) => ({ removes: [path] }),
  preview: ({ path, recursive }) => previewDelete(path, { recursive }),
  execute: ({ path, recursive }) =>
    Effect.map(deletePath(path, { recursive }), (deleted) => ({ deleted: [...deleted] })),
  render: ({ deleted }) => `Deleted ${deleted.map(singleLine).join(", ")}`
})
