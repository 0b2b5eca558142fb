import { singleLine } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { contentBytes, previewWrite, writeFile } from "./write-file.ts"

export const approvalgateWriteFile = approvalgate.tool({
  name: "write_file",
  operation: "write-file",
  description: "Create a file or overwrite it.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    content: z.string().describe("All of the new content"),
    encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("base64 for content that is not text"),
    createDirs: z.boolean().default(false).describe("Make missing parent directories")
  }),
  output: z.object({ path: z.string(), size: z.number() }),
  risk: "safe_write",
  asks: ({ writes }) => writes.some(({ exists, isProtected }) => exists || isProtected),
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: ({ path, content, encoding, createDirs }) =>
    Effect.flatMap(contentBytes(content, encoding), (bytes) =>
      previewWrite(path, bytes, { createDirectories: createDirs })
    ),
  execute: Effect.fnUntraced(function* ({ path, content, encoding, createDirs }) {
    const bytes = yield* contentBytes(content, encoding)
    const written = yield* writeFile(path, bytes, { createDirectories: createDirs })
    return { path: written.path, size: written.size }
  }),
  render: ({ path, size }) => `Wrote ${singleLine(path)} (${size} bytes)`
})
