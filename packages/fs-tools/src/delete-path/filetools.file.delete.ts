import { singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { insideOnly } from "../inside-only.ts"
import { planOnce } from "../plan-once.ts"
import { planDelete } from "./delete-path.ts"

const operation = planOnce((plan, { path }: { readonly path: string }) => planDelete(plan, { path, recursive: false }))

export const filetoolsFileDelete = filetools.tool({
  name: "file.delete",
  operation: "delete-path",
  description: "Delete a file. Directories are refused.",
  input: z.strictObject({ path: z.string().describe("File, relative to the workspace") }),
  output: z.object({ success: z.boolean() }),
  risk: "dangerous",
  asks: true,
  timeout: "60 seconds",
  touches: ({ path }) => insideOnly({ removes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.as(operation.commit(call), { success: true }),
  render: (_output, { path }) => `Deleted ${singleLine(path)}`
})
