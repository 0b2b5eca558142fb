import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { previewUndo, undo, undonePaths } from "./undo.ts"

export const haftUndo = haft.tool({
  name: "undo",
  operation: "undo",
  description:
    "Take back what a call changed: the last one, a named call, or every call of a run or since a time. Commands that " +
    "ran on an overlay count. Refused where a file has changed since. An undo is taken back by naming its own call.",
  input: z.strictObject({
    call: z.string().min(1).optional().describe("Id of the call to take back"),
    run: z.string().min(1).optional().describe("Name of the run to take back as a whole"),
    since: z.string().min(1).optional().describe("Take back every call that began at this time (ISO 8601) or later")
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
