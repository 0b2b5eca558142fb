import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { deletedPaths, planDelete } from "./delete-path.ts"

const operation = planOnce(planDelete)

export const haftDeletePath = haft.tool({
  name: "delete_path",
  profile: "coding",
  operation: "delete-path",
  description: "Delete a file, link or directory.",
  input: z.strictObject({
    path: z.string().describe("Path, relative to the workspace"),
    recursive: z.boolean().default(false).describe("Required for directories")
  }),
  output: z.object({ deleted: z.array(z.string()) }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ path }) => ({ removes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ changes }) => ({ deleted: deletedPaths(changes) })),
  render: ({ deleted }) => `Deleted ${deleted.map(singleLine).join(", ")}`
})
