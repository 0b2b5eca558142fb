import { singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { planEdits, type TextEdit } from "./edit-text.ts"

const operation = planOnce((plan, call: { readonly path: string; readonly patches: ReadonlyArray<TextEdit> }) =>
  planEdits(plan, call.path, call.patches)
)

export const filetoolsFilePatch = filetools.tool({
  name: "file.patch",
  operation: "edit-text",
  description: "Replace pieces of text in a file, one after the other. Each must be found at exactly one place.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    patches: z
      .array(
        z.strictObject({
          find: z.string().min(1).describe("Exact text to find, which must be unique"),
          replace: z.string().describe("Text to replace it with")
        })
      )
      .describe("Applied in order; all of them or none")
  }),
  output: z.object({ success: z.boolean(), patches_applied: z.number() }),
  risk: "dangerous",
  asks: true,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result }) => ({ success: true, patches_applied: result.edits.length })),
  render: ({ patches_applied }, { path }) => `Applied ${patches_applied} patches to ${singleLine(path)}`
})
