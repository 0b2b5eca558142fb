import { Buffer } from "node:buffer"
import { resolve } from "node:path"

import { singleLine, Workspace } from "@haft/core"
import { planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli } from "../dialect.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  content: z.string().describe("All that the file shall hold")
})

const operation = planOnce((plan, { file_path, content }: z.output<typeof input>) =>
  planWrite(plan, file_path, Buffer.from(content.toWellFormed()), { createDirectories: true })
)

export const writeFile = geminiCli.tool({
  name: "write_file",
  operation: "write-file",
  description: "Write a file whole, with the directories on the way to it.",
  input,
  output: answer,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { result } = yield* operation.commit(call)
    const { root } = yield* Workspace
    const path = singleLine(resolve(root, result.path))
    const verb = result.change === "created" ? "created and wrote to new" : "overwrote"
    return { llmContent: `Successfully ${verb} file: ${path}. Here is the updated code:\n${call.content}` }
  }),
  render: ({ llmContent }) => llmContent
})
