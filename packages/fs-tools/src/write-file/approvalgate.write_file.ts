import { singleLine } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { contentBytes, planWrite } from "./write-file.ts"

const input = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  content: z.string().describe("All of the new content"),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("base64 for content that is not text"),
  createDirs: z.boolean().default(false).describe("Make missing parent directories")
})

const operation = planOnce((plan, { path, content, encoding, createDirs }: z.output<typeof input>) =>
  Effect.flatMap(contentBytes(content, encoding), (bytes) =>
    planWrite(plan, path, bytes, { createDirectories: createDirs })
  )
)

export const approvalgateWriteFile = approvalgate.tool({
  name: "write_file",
  operation: "write-file",
  description: "Create a file or overwrite it.",
  input,
  output: z.object({ path: z.string(), size: z.number() }),
  risk: "safe_write",
  asks: ({ writes }) => writes.some(({ exists, isProtected }) => exists || isProtected),
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ result: { path, size } }) => ({ path, size })),
  render: ({ path, size }) => `Wrote ${singleLine(path)} (${size} bytes)`
})
