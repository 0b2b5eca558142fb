import { Buffer } from "node:buffer"

import { type ChangePlan, singleLine, type ToolError, Workspace } from "@haft/core"
import { planEdits, planInsert, planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"
import { viewDirectory, viewFile } from "../views.ts"

const input = z.strictObject({
  command: z.enum(["view", "create", "str_replace", "insert"]).describe("What to do"),
  path: z.string().describe("File or directory, absolute or relative to the workspace"),
  view_range: z.array(z.int()).length(2).optional().describe("view: first and last line, -1 for the end of the file"),
  max_characters: z.int().min(1).optional().describe("view: characters to show at most"),
  file_text: z.string().optional().describe("create: all that the file shall hold"),
  old_str: z.string().optional().describe("str_replace: text to replace, which must be unique"),
  new_str: z.string().optional().describe("str_replace: text to put there; nothing when absent"),
  insert_line: z.int().optional().describe("insert: line after which the text comes, 0 for the beginning"),
  insert_text: z.string().optional().describe("insert: text to put there, also as new_str")
})

type Call = z.output<typeof input>

export const textEditor = anthropic.tool({
  name: "str_replace_based_edit_tool",
  operation: "edit-text",
  description:
    "View files with line numbers and directories, create files, replace a text that stands at exactly one place, and " +
    "insert lines. Encoding, line endings and everything else in a file stay as they are.",
  input,
  output: answer,
  risk: "dangerous",
  asks: ({ writes }) => writes.length > 0,
  timeout: "60 seconds",
  touches: ({ command, path }) => (command === "view" ? { reads: [path] } : { writes: [path] }),
  preview: (call) =>
    call.command === "view" ? Effect.succeed("") : Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(
      (call.command === "view" ? view(call) : Effect.map(operation.commit(call), ({ result }) => result)).pipe(
        Effect.mapError(inFileWords)
      ),
      (output) => ({ output })
    ),
  render: ({ output }) => output
})

const view = Effect.fnUntraced(function* ({ path, view_range: range = [1, -1], max_characters }: Call) {
  const workspace = yield* Workspace
  const { kind } = yield* workspace.info(path)
  if (kind === "directory") return yield* viewDirectory(path, singleLine(path))
  const [first = 1, last = -1] = range
  const shown = yield* viewFile(path, [first, last])
  if (max_characters === undefined || shown.length <= max_characters) return shown
  return `${shown.slice(0, max_characters).toWellFormed()}\n[view cut at ${max_characters} of ${shown.length} characters: use view_range]`
})

const operation = planOnce(
  Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
    const { command, path } = call
    if (command === "create") {
      const content = Buffer.from((yield* required(call, "file_text")).toWellFormed())
      yield* planWrite(plan, path, content, { createDirectories: true, mustBeNew: true })
      return `File created successfully at: ${singleLine(path)}`
    }
    if (command === "insert") {
      const text = call.insert_text ?? call.new_str
      const inserted = text === undefined ? yield* required(call, "insert_text") : text
      yield* planInsert(plan, path, { line: yield* required(call, "insert_line"), text: inserted })
      return `The file ${singleLine(path)} has been edited.`
    }
    const edit = { find: yield* required(call, "old_str"), replace: call.new_str ?? "" }
    yield* planEdits(plan, path, [edit]).pipe(Effect.mapError(inReplaceWords))
    return "Successfully replaced text at exactly one location."
  })
)

const required = <Key extends "file_text" | "old_str" | "insert_line" | "insert_text">(
  call: Call,
  key: Key
): Effect.Effect<NonNullable<Call[Key]>, ToolError<"invalid_params">> => {
  const value = call[key]
  return value === undefined
    ? Effect.fail(worded("invalid_params", `Error: ${key} is required for command ${call.command}`))
    : Effect.succeed(value)
}

const inReplaceWords = <Code extends ToolError["code"]>(error: ToolError<Code>): ToolError<Code> => {
  if (error.code === "match_not_found") {
    return worded(error.code, "Error: No match found for replacement. Please check your text and try again.")
  }
  if (error.code !== "match_not_unique") return error
  const matches = Number(error.details?.["matches"])
  return worded(
    error.code,
    `Error: Found ${matches} matches for replacement text. Please provide more context to make a unique match.`
  )
}

const inFileWords = <Code extends ToolError["code"]>(error: ToolError<Code>): ToolError<Code> =>
  error.code === "file_not_found" ? worded(error.code, "Error: File not found") : error
