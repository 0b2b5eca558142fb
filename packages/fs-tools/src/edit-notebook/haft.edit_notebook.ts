import { createHash } from "node:crypto"

import { type ChangePlan, singleLine, toolError, type ToolError } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { type CellJson, cellsIn } from "../media/notebook-cells.ts"
import { planOnce } from "../plan-once.ts"
import { replaceText, type TextError, textIn } from "../planned-text.ts"
import { editNotebook } from "./edit-cells.ts"

const input = z
  .strictObject({
    path: z.string().describe("Notebook, relative to the workspace"),
    mode: z.enum(["replace", "insert", "delete"]).default("replace").describe("What to do"),
    cell: z
      .string()
      .min(1)
      .optional()
      .describe("Number or id of the cell, as read_file shows it; insert goes behind it, or to the beginning"),
    source: z.string().default("").describe("New source"),
    cell_type: z.enum(["code", "markdown"]).optional().describe("New type; insert makes code")
  })
  .refine(({ mode, cell }) => mode === "insert" || cell !== undefined, {
    path: ["cell"],
    message: "is required unless mode is insert"
  })

type Call = z.output<typeof input>

const planCall = Effect.fnUntraced(function* (
  plan: ChangePlan,
  { path, mode, cell, source, cell_type }: Call
): Effect.fn.Return<{ readonly cell: string; readonly cells: number }, TextError | ToolError<"match_not_found">> {
  const { text } = yield* textIn(plan, path)
  const cells = cellsIn(text)
  if (cells === undefined) {
    return yield* toolError("binary_file", `${path} is not a Jupyter notebook; nothing was changed`, {
      suggestion: "Edit it as text.",
      details: { path }
    })
  }
  const found = cell === undefined ? -1 : indexOf(cells, cell)
  if (found === undefined) return yield* noCell(path, cell ?? "", cells.length)
  // Notebooks since format 4.5 have ids; an older one would be invalid with some.
  const hasIds = cells.some(({ id }) => typeof id === "string") || (cells.length === 0 && isOfFormatWithIds(text))
  const newId = hasIds ? createHash("sha256").update(`${text}\0${source}`).digest("hex").slice(0, 12) : undefined
  const index = mode === "insert" ? found + 1 : found
  const updated = editNotebook(text, {
    mode,
    index,
    source,
    ...(cell_type !== undefined && { cellType: cell_type }),
    ...(newId !== undefined && { newId })
  })
  yield* replaceText(plan, path, [{ start: 0, end: text.length, text: updated }])
  const id = mode === "insert" ? newId : cells[index]?.id
  const change = mode === "insert" ? 1 : mode === "delete" ? -1 : 0
  return { cell: typeof id === "string" ? id : String(index), cells: cells.length + change }
})

const indexOf = (cells: ReadonlyArray<CellJson>, cell: string): number | undefined => {
  const byId = cells.findIndex(({ id }) => id === cell)
  if (byId >= 0) return byId
  return /^\d{1,9}$/.test(cell) && Number(cell) < cells.length ? Number(cell) : undefined
}

const isOfFormatWithIds = (text: string): boolean => {
  const { nbformat, nbformat_minor } = JSON.parse(text) as Readonly<Record<string, unknown>>
  return Number(nbformat) > 4 || (nbformat === 4 && Number(nbformat_minor) >= 5)
}

const noCell = (path: string, cell: string, cells: number): Effect.Effect<never, ToolError<"match_not_found">> =>
  toolError("match_not_found", `${path} has no cell '${cell}'; nothing was changed`, {
    suggestion: `It has ${cells} cells: read it, and use a number or an id that is shown.`,
    details: { path, cells }
  })

const operation = planOnce(planCall)

export const haftEditNotebook = haft.tool({
  name: "edit_notebook",
  profile: "all",
  operation: "edit-text",
  description: "Replace, insert or delete one cell of a Jupyter notebook. The rest stays byte for byte.",
  input,
  output: z.object({ path: z.string(), cell: z.string(), cells: z.number(), fingerprint: z.string().optional() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { changes, result } = yield* operation.commit(call)
    const [change] = changes
    return {
      path: change?.path ?? call.path,
      ...result,
      ...(change !== undefined && { fingerprint: change.after })
    }
  }),
  render: ({ path, cell, cells }, { mode }) =>
    singleLine(
      `${mode === "insert" ? "Inserted" : mode === "delete" ? "Deleted" : "Replaced"} cell ${cell} of ${path}, which has ${cells} cells now`
    )
})
