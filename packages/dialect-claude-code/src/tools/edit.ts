import { Buffer } from "node:buffer"

import { type ChangePlan, singleLine, type ToolError } from "@haft/core"
import { planEdits, planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { patchBetween, structuredPatch } from "../patch.ts"
import { inStaleWords, lastSeen, rememberFile } from "../read-files.ts"
import { inFileWords, isCurrent, refused, worded } from "../worded.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  old_string: z.string().describe("Text to replace, as the file has it; empty to create a file"),
  new_string: z.string().describe("Text to put there, different from old_string"),
  replace_all: z.boolean().default(false).describe("Replace every place instead of asking for exactly one")
})

type Call = z.output<typeof input>

const empty = new Uint8Array()

/** Plans the edit, and says what the file held before and will hold after it. */
const planCall = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  const { file_path, old_string, new_string, replace_all } = call
  if (old_string === new_string) {
    return yield* worded("invalid_params", "No changes to make: old_string and new_string are exactly the same.")
  }
  const found = yield* plan.info(file_path)
  if (old_string === "" && (found === undefined || (found.kind === "file" && found.size === 0))) {
    const bytes = Buffer.from(new_string.toWellFormed())
    yield* planWrite(plan, file_path, bytes, { createDirectories: true })
    return { before: empty, after: bytes, originalFile: found === undefined ? null : "" }
  }
  if (old_string === "") return yield* worded("already_exists", "Cannot create new file - file already exists.")
  const base = yield* lastSeen(file_path)
  const edit = { find: old_string, replace: new_string, all: replace_all }
  const { before, after } = yield* planEdits(plan, file_path, [edit], { base }).pipe(
    Effect.mapError((error) => inEditWords(error, old_string))
  )
  return { before: before.encode(), after: after.encode(), originalFile: before.text }
})

const operation = planOnce((plan, call: Call) =>
  planCall(plan, call).pipe(Effect.mapError(inStaleWords), inFileWords(call.file_path), Effect.mapError(refused))
)

export const edit = claudeCode.tool({
  name: "Edit",
  operation: "edit-text",
  description:
    "Replace a text in a file that has been read. The text must stand at exactly one place, unless replace_all is set. " +
    "Encoding, line endings and everything else in the file stay as they are.",
  input,
  output: z.object({
    filePath: z.string(),
    oldString: z.string(),
    newString: z.string(),
    originalFile: z.string().nullable(),
    structuredPatch,
    userModified: z.boolean(),
    replaceAll: z.boolean()
  }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { result, changes } = yield* operation.commit(call).pipe(Effect.mapError(inStaleWords))
    for (const { path, after } of changes) yield* rememberFile(path, after)
    return {
      filePath: call.file_path,
      oldString: call.old_string,
      newString: call.new_string,
      originalFile: result.originalFile,
      structuredPatch: yield* patchBetween(result.before, result.after),
      userModified: false,
      replaceAll: call.replace_all
    }
  }),
  render: ({ filePath, replaceAll }) =>
    replaceAll
      ? `The file ${singleLine(filePath)} has been updated. All occurrences were successfully replaced. ${isCurrent}`
      : `The file ${singleLine(filePath)} has been updated successfully.`
})

const inEditWords = <Code extends ToolError["code"]>(error: ToolError<Code>, text: string): ToolError<Code> => {
  if (error.code === "match_not_found") {
    return worded(error.code, `String to replace not found in file.\nString: ${text}`)
  }
  if (error.code !== "match_not_unique") return error
  const matches = Number(error.details?.["matches"])
  return worded(
    error.code,
    `Found ${matches} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: ${text}`
  )
}
