import { singleLine, type ToolError } from "@haft/core"
import { planEdits, planOnce } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"
import { inFileWords } from "../file-failures.ts"

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  old_string: z.string().describe("Text to replace, as the file has it"),
  new_string: z.string().describe("Text to put there"),
  replace_all: z.boolean().optional().describe("Replace every place instead of asking for exactly one")
})

type Call = z.output<typeof input>

const operation = planOnce(
  Effect.fnUntraced(function* (plan, { file_path, old_string, new_string, replace_all = false }: Call) {
    if (old_string === "") return yield* worded("invalid_params", "edit: old_string is required")
    const { edits } = yield* planEdits(plan, file_path, [
      { find: old_string, replace: new_string, all: replace_all }
    ]).pipe(
      Effect.mapError((error) => inEditWords(error, file_path)),
      inFileWords("edit", file_path)
    )
    return edits.reduce((sum, { replaced }) => sum + replaced, 0)
  })
)

export const edit = anthropic.tool({
  name: "edit",
  operation: "edit-text",
  description:
    "Replace a text in a file. It must stand at exactly one place, unless replace_all is set. Encoding, line endings and " +
    "everything else in the file stay as they are.",
  input,
  output: answer,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ file_path }) => ({ writes: [file_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result }) => ({
      output: `edited ${singleLine(call.file_path)} (${result} replacement(s))`
    })),
  render: ({ output }) => output
})

const inEditWords = <Code extends ToolError["code"]>(error: ToolError<Code>, path: string): ToolError<Code> => {
  const shown = singleLine(path)
  if (error.code === "match_not_found") return worded(error.code, `edit: old_string not found in ${shown}`)
  if (error.code !== "match_not_unique") return error
  const matches = Number(error.details?.["matches"])
  return worded(error.code, `edit: old_string appears ${matches} times in ${shown} (must be unique)`)
}
