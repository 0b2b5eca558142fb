import { Buffer } from "node:buffer"
import { resolve } from "node:path"

import { type ChangePlan, singleLine, type ToolError, Workspace } from "@haft/core"
import { planEdits, planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli, worded } from "../dialect.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  instruction: z.string().describe("What the change is for, in a sentence"),
  old_string: z.string().describe("Text to replace, as the file has it; empty to create a file"),
  new_string: z.string().describe("Text to put there"),
  allow_multiple: z.boolean().optional().describe("Replace every place instead of asking for exactly one")
})

type Call = z.output<typeof input>

const planCall = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  const { file_path, old_string, new_string, allow_multiple = false } = call
  const found = yield* plan.info(file_path)
  if (old_string === "") {
    if (found !== undefined) {
      return yield* worded(
        "already_exists",
        `File already exists, cannot create: ${singleLine(file_path)}`,
        "attempt_to_create_existing_file"
      )
    }
    yield* planWrite(plan, file_path, Buffer.from(new_string.toWellFormed()), { createDirectories: true })
    return { text: new_string, replaced: 1, isNew: true }
  }
  if (found === undefined) {
    return yield* worded(
      "file_not_found",
      "File not found. Cannot apply edit. Use an empty old_string to create a new file."
    )
  }
  if (old_string === new_string) {
    return yield* worded(
      "match_not_found",
      `No changes to apply. The old_string and new_string are identical in file: ${singleLine(file_path)}`,
      "edit_no_change"
    )
  }
  const edit = { find: old_string, replace: new_string, all: allow_multiple }
  const { after, edits } = yield* planEdits(plan, file_path, [edit], { loosely: !allow_multiple }).pipe(
    Effect.mapError((error) => inEditWords(error, file_path))
  )
  return { text: after.text, replaced: edits[0]?.replaced ?? 0, isNew: false }
})

const operation = planOnce(planCall)

export const replace = geminiCli.tool({
  name: "replace",
  operation: "edit-text",
  description:
    "Replace a text in a file. It must stand at exactly one place, unless allow_multiple is set. Encoding and line endings " +
    "stay as they are.",
  input,
  output: answer,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { result } = yield* operation.commit(call)
    const { root } = yield* Workspace
    const path = singleLine(resolve(root, call.file_path))
    const text = result.text.replaceAll("\r\n", "\n")
    return {
      llmContent: result.isNew
        ? `Created new file: ${path} with provided content.`
        : `Successfully modified file: ${path} (${result.replaced} replacements). Here is the updated code:\n${text}`
    }
  }),
  render: ({ llmContent }) => llmContent
})

const inEditWords = <Code extends ToolError["code"]>(error: ToolError<Code>, path: string): ToolError<Code> => {
  const name = singleLine(path)
  if (error.code === "match_not_found") {
    return worded(
      error.code,
      `Could not find an exact match for 'old_string' in '${name}'. If previous edits modified the file or you are modifying lines outside your recent read window, please use ReadFile to inspect the target lines before retrying with an exact 'old_string'.`
    )
  }
  if (error.code !== "match_not_unique") return error
  const matches = Number(error.details?.["matches"])
  return worded(
    error.code,
    `Failed to edit, Expected 1 occurrence but found ${matches} for old_string in file: ${name}. If you intended to replace multiple occurrences, set 'allow_multiple' to true.`
  )
}
