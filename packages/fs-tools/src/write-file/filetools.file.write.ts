import { singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { contentBytes, planWrite } from "./write-file.ts"

const operation = planOnce((plan, { path, content }: { readonly path: string; readonly content: string }) =>
  Effect.flatMap(contentBytes(content), (bytes) => planWrite(plan, path, bytes, { createDirectories: true }))
)

export const filetoolsFileWrite = filetools.tool({
  name: "file.write",
  operation: "write-file",
  description: "Create a file or overwrite it. Missing directories are made.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    content: z.string().describe("All of the new content")
  }),
  output: z.object({ success: z.boolean(), bytes_written: z.number() }),
  risk: "safe_write",
  asks: ({ writes }) => writes.some(({ exists, isProtected }) => exists || isProtected),
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result: { size } }) => ({ success: true, bytes_written: size })),
  render: ({ bytes_written }, { path }) => `Wrote ${singleLine(path)} (${bytes_written} bytes)`
})
