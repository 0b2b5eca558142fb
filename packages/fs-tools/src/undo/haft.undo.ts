import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { previewUndo, undo, undonePaths } from "./undo.ts"

export const haftUndo = haft.tool({
  name: "undo",
  profile: "coding",
  operation: "undo",
  description:
    "Undo the last call that changed files, or others. Refused if a file changed since. Undo an undo by its call id.",
  input: z.strictObject({
    call: z.string().min(1).optional().describe("Id of the call"),
    run: z.string().min(1).optional().describe("Name of a whole run"),
    since: z.string().min(1).optional().describe("All calls since this time (ISO 8601)")
  }),
  output: z.object({
    calls: z.array(z.string()),
    paths: z.array(z.string()),
    lost: z.array(z.string()).optional()
  }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: (target) => Effect.map(undonePaths(target), (removes) => ({ removes })),
  preview: previewUndo,
  execute: (target) =>
    Effect.map(undo(target), ({ calls, paths, lost }) => ({
      calls: [...calls],
      paths: [...paths],
      ...(lost !== undefined && { lost: [...lost] })
    })),
  render: ({ calls, paths, lost }) =>
    [
      `Took back ${calls.join(", ")}: ${paths.map(singleLine).join(", ")}`,
      ...(lost === undefined ? [] : [`Not brought back, since they were no files: ${lost.map(singleLine).join(", ")}`])
    ].join("\n")
})
