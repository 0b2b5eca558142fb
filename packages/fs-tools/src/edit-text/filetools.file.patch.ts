import { singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { editText, previewEdits } from "./edit-text.ts"

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
  preview: ({ path, patches }) => previewEdits(path, patches),
  execute: ({ path, patches }) =>
    Effect.map(editText(path, patches), ({ edits }) => ({ success: true, patches_applied: edits.length })),
  render: ({ patches_applied }, { path }) => `Applied ${patches_applied} patches to ${singleLine(path)}`
})
