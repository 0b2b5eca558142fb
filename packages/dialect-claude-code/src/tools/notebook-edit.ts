import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import { extname } from "node:path"

import { type ChangePlan, singleLine } from "@haft/core"
import { editNotebook, planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { cellsOf, languageOf } from "../notebook.ts"
import { inStaleWords, lastSeen, rememberFile } from "../read-files.ts"
import { inFileWords, worded } from "../worded.ts"

const input = z.strictObject({
  notebook_path: z.string().describe("Notebook, absolute or relative to the workspace"),
  cell_id: z
    .string()
    .optional()
    .describe("The cell to edit; a new one is inserted after it, or at the beginning when absent"),
  new_source: z.string().describe("The cell's new source"),
  cell_type: z.enum(["code", "markdown"]).optional().describe("Required to insert; the cell's own when absent"),
  edit_mode: z.enum(["replace", "insert", "delete"]).default("replace").describe("What to do with the cell")
})

type Call = z.output<typeof input>

const planCall = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  const { notebook_path, cell_id, new_source, cell_type, edit_mode } = call
  if (extname(notebook_path) !== ".ipynb") {
    return yield* worded(
      "invalid_params",
      "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit tool."
    )
  }
  if (edit_mode === "insert" && cell_type === undefined) {
    return yield* worded("invalid_params", "Cell type is required when using edit_mode=insert.")
  }
  const base = yield* lastSeen(notebook_path)
  const { content, path } = yield* plan.file(notebook_path)
  const original = Buffer.concat(content instanceof Uint8Array ? [content] : content).toString("utf8")
  const cells = cellsOf(original)
  if (cells === undefined) return yield* worded("binary_file", "Notebook is not valid JSON.")
  const found = cells.findIndex((cell, index) => cell.cell_id === cell_id || cell_id === `cell-${index}`)
  if (cell_id === undefined && edit_mode !== "insert") {
    return yield* worded("invalid_params", "Cell ID must be specified when not inserting a new cell.")
  }
  if (cell_id !== undefined && found < 0) {
    return yield* worded("match_not_found", `Cell with ID "${singleLine(cell_id)}" not found in notebook.`)
  }
  const newId = createHash("sha256").update(`${original}${new_source}`).digest("hex").slice(0, 12)
  const index = edit_mode === "insert" ? found + 1 : found
  const updated = editNotebook(original, { mode: edit_mode, index, source: new_source, cellType: cell_type, newId })
  yield* planWrite(plan, path, Buffer.from(updated), { createDirectories: false, base })
  return { original, updated, old: cells[found], newId }
})

const operation = planOnce((plan, call: Call) =>
  planCall(plan, call).pipe(Effect.mapError(inStaleWords), inFileWords(call.notebook_path))
)

export const notebookEdit = claudeCode.tool({
  name: "NotebookEdit",
  operation: "edit-text",
  description:
    "Replace, insert or delete one cell of a Jupyter notebook that has been read. The rest of the file stays as it is.",
  input,
  output: z.object({
    new_source: z.string(),
    old_source: z.string().optional(),
    cell_id: z.string().optional(),
    cell_type: z.enum(["code", "markdown"]),
    language: z.string(),
    edit_mode: z.string(),
    notebook_path: z.string(),
    original_file: z.string(),
    updated_file: z.string()
  }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ notebook_path }) => ({ writes: [notebook_path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { result, changes } = yield* operation.commit(call).pipe(Effect.mapError(inStaleWords))
    for (const { path, after } of changes) yield* rememberFile(path, after)
    const { original, updated, old, newId } = result
    const own = old?.cellType === "markdown" ? "markdown" : "code"
    const cellId = call.edit_mode === "insert" ? newId : old?.cell_id
    return {
      new_source: call.new_source,
      ...(call.edit_mode !== "insert" && old !== undefined && { old_source: old.source }),
      ...(cellId !== undefined && { cell_id: cellId }),
      cell_type: call.cell_type ?? own,
      language: languageOf(original),
      edit_mode: call.edit_mode,
      notebook_path: call.notebook_path,
      original_file: original,
      updated_file: updated
    }
  }),
  render: ({ edit_mode, cell_id, new_source }) => {
    if (edit_mode === "delete") return `Deleted cell ${cell_id}`
    return edit_mode === "insert"
      ? `Inserted cell ${cell_id} with ${new_source}`
      : `Updated cell ${cell_id} with ${new_source}`
  }
})
