import { Buffer } from "node:buffer"

import { singleLine } from "@haft/core"
import { planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { asksForControlFiles } from "../asks.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

const input = z.strictObject({
  path: z.string().describe("File, absolute or relative to the first allowed directory"),
  content: z.string().describe("All that the file shall hold")
})

const operation = planOnce((plan, { path, content }: z.output<typeof input>) =>
  Effect.flatMap(locate(path), (located) =>
    planWrite(plan, located.path, Buffer.from(content.toWellFormed()), { createDirectories: false }).pipe(
      inSystemWords({ call: "open", path: located.absolute })
    )
  )
)

export const writeFile = mcpFilesystem.tool({
  name: "write_file",
  operation: "write-file",
  description: "Create a file, or replace all that an existing file holds. Its directory must be there.",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "dangerous",
  asks: asksForControlFiles,
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ writes: [located.path] })),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.as(operation.commit(call), { content: `Successfully wrote to ${singleLine(call.path)}` }),
  render: ({ content }) => content
})
