import { singleLine } from "@haft/core"
import { planDirectory, planOnce } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { asksForControlFiles } from "../asks.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

const input = z.strictObject({
  path: z.string().describe("Directory, absolute or relative to the first allowed directory")
})

const operation = planOnce((plan, { path }: z.output<typeof input>) =>
  Effect.flatMap(locate(path), (located) =>
    inSystemWords({ call: "mkdir", path: located.absolute })(planDirectory(plan, { path: located.path }))
  )
)

export const createDirectory = mcpFilesystem.tool({
  name: "create_directory",
  operation: "create-directory",
  description: "Make a directory and those on the way to it. One that is there already is fine.",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "safe_write",
  asks: asksForControlFiles,
  idempotent: true,
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ writes: [located.path] })),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.as(operation.commit(call), { content: `Successfully created directory ${singleLine(call.path)}` }),
  render: ({ content }) => content
})
