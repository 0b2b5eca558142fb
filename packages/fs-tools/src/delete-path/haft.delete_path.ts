import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { deletedPaths, planDelete } from "./delete-path.ts"

const operation = planOnce(planDelete)

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
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ changes }) => ({ deleted: deletedPaths(changes) })),
  render: ({ deleted }) => `Deleted ${deleted.map(singleLine).join(", ")}`
})
