import { Buffer } from "node:buffer"

import { type ChangePlan, singleLine } from "@haft/core"
import { planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { patchBetween, structuredPatch } from "../patch.ts"
import { inStaleWords, lastSeen, rememberFile } from "../read-files.ts"
import { inFileWords, isCurrent } from "../worded.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  content: z.string().describe("All that the file shall hold")
})

const planCall = Effect.fnUntraced(function* (plan: ChangePlan, { file_path, content }: z.output<typeof input>) {
  const base = yield* lastSeen(file_path)
  const bytes = Buffer.from(content.toWellFormed())
  return yield* planWrite(plan, file_path, bytes, { createDirectories: true, base })
})

const operation = planOnce((plan, call: z.output<typeof input>) =>
  planCall(plan, call).pipe(Effect.mapError(inStaleWords), inFileWords(call.file_path))
)

export const write = claudeCode.tool({
  name: "Write",
  operation: "write-file",
  description:
    "Write a file whole, with the directories on the way to it. A file that is there must have been read, and must " +
    "not have changed since.",
  input,
  output: z.object({
    type: z.enum(["create", "update"]),
    filePath: z.string(),
    content: z.string(),
    structuredPatch,
    originalFile: z.string().nullable()
  }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { result } = yield* operation.commit(call).pipe(Effect.mapError(inStaleWords))
    yield* rememberFile(result.path, result.fingerprint)
    const isNew = result.change === "created"
    const before = result.before?.encode()
    return {
      type: isNew ? ("create" as const) : ("update" as const),
      filePath: call.file_path,
      content: call.content,
      structuredPatch: before === undefined ? [] : yield* patchBetween(before, Buffer.from(call.content)),
      originalFile: result.before?.text ?? null
    }
  }),
  render: ({ type, filePath }) =>
    type === "create"
      ? `File created successfully at: ${singleLine(filePath)} ${isCurrent}`
      : `The file ${singleLine(filePath)} has been updated successfully. ${isCurrent}`
})
