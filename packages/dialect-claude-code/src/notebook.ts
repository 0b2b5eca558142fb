/** A cell of a notebook as Read shows it. */
export interface Cell {
  readonly cell_id: string
  readonly cellType: string
  readonly source: string
  readonly outputs?: ReadonlyArray<unknown>
}

interface NotebookJson {
  readonly cells?: ReadonlyArray<CellJson>
  readonly metadata?: { readonly language_info?: { readonly name?: string } }
}

interface CellJson {
  readonly id?: string
  readonly cell_type?: string
  readonly source?: string | ReadonlyArray<string>
  readonly outputs?: ReadonlyArray<unknown>
}

/** The cells of a notebook; undefined for a text that is none. */
export const cellsOf = (text: string): ReadonlyArray<Cell> | undefined => notebookIn(text)?.cells?.map(cellOf)

const cellOf = (cell: CellJson, index: number): Cell => {
  const { outputs = [] } = cell
  const shown = { cell_id: cell.id ?? `cell-${index}`, cellType: cell.cell_type ?? "code", source: sourceOf(cell) }
  return outputs.length > 0 ? { ...shown, outputs } : shown
}

/** The language that a notebook's code is in. */
export const languageOf = (text: string): string => notebookIn(text)?.metadata?.language_info?.name ?? "python"

const notebookIn = (text: string): NotebookJson | undefined => {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === "object" && parsed !== null && "cells" in parsed ? (parsed as NotebookJson) : undefined
  } catch {
    return undefined
  }
}

const sourceOf = ({ source = "" }: CellJson): string => (typeof source === "string" ? source : source.join(""))
