import { Buffer } from "node:buffer"

import { singleLine } from "@haft/core"
import { planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer } from "../dialect.ts"
import { inFileWords } from "../file-failures.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  content: z.string().describe("All that the file shall hold")
})

const operation = planOnce((plan, { file_path, content }: z.output<typeof input>) =>
  planWrite(plan, file_path, Buffer.from(content.toWellFormed()), { createDirectories: true }).pipe(
    inFileWords("write", file_path)
  )
)

export const write = anthropic.tool({
  name: "write",
  operation: "write-file",
  description: "Write a file whole, with the directories on the way to it.",
  input,
  output: answer,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result }) => ({
      output: `wrote ${result.size} bytes to ${singleLine(call.file_path)}`
    })),
  render: ({ output }) => output
})
