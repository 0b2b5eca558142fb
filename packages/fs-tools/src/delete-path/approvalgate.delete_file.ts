import { singleLine } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { insideOnly } from "../inside-only.ts"
import { planOnce } from "../plan-once.ts"
import { deletedPaths, planDelete } from "./delete-path.ts"

const operation = planOnce(planDelete)

export const approvalgateDeleteFile = approvalgate.tool({
  name: "delete_file",
  operation: "delete-path",
  description: "Delete a file, or a directory with everything in it when recursive is true.",
  input: z.strictObject({
    path: z.string().describe("What to delete, relative to the workspace"),
    recursive: z.boolean().default(false).describe("Needed for directories")
  }),
  output: z.object({ deleted: z.array(z.string()) }),
  risk: "dangerous",
  asks: true,
  timeout: "60 seconds",
  touches: ({ path }) => insideOnly({ removes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ changes }) => ({ deleted: deletedPaths(changes) })),
  render: ({ deleted }) => `Deleted ${deleted.map(singleLine).join(", ")}`
})
