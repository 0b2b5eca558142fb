import type { ContentBlock } from "@haft/core"

/** A notebook as text, cell by cell, with the images in its outputs as blocks. */
export interface NotebookText {
  readonly text: string
  readonly cells: number
  readonly blocks: ReadonlyArray<ContentBlock>
}

export interface CellJson {
  readonly id?: unknown
  readonly cell_type?: unknown
  readonly source?: unknown
  readonly outputs?: unknown
}

/** The cells of a Jupyter notebook. Undefined for a text that is none. */
export const notebookText = (json: string): NotebookText | undefined => {
  const cells = cellsIn(json)
  if (cells === undefined) return undefined
  const blocks: Array<ContentBlock> = []
  const texts = cells.map((cell, index) => cellText(cell, index, blocks))
  return { text: texts.join("\n"), cells: cells.length, blocks }
}

/** Ids and types of a notebook's cells, in order. Undefined for a text that is none. */
export const cellsIn = (json: string): ReadonlyArray<CellJson> | undefined => {
  try {
    const notebook: unknown = JSON.parse(json)
    if (!isRecord(notebook) || typeof notebook["nbformat"] !== "number") return undefined
    const { cells } = notebook
    return Array.isArray(cells) && cells.every(isRecord) ? cells : undefined
  } catch {
    return undefined
  }
}

const cellText = ({ id, cell_type: type, source, outputs }: CellJson, index: number, blocks: Array<ContentBlock>) => {
  const name = typeof id === "string" ? ` ${id}` : ""
  const parts = [`--- cell ${index}${name} (${String(type)}) ---`, joined(source)]
  for (const output of Array.isArray(outputs) ? outputs.filter(isRecord) : []) {
    const shown = outputText(output, blocks)
    if (shown !== "") parts.push("--- output ---", shown)
  }
  return `${parts.map((part) => part.replace(/\n$/, "")).join("\n")}\n`
}

const outputText = (output: Readonly<Record<string, unknown>>, blocks: Array<ContentBlock>): string => {
  if (output["output_type"] === "error") return `${joined(output["ename"])}: ${joined(output["evalue"])}`
  if (output["output_type"] === "stream") return joined(output["text"])
  const data = isRecord(output["data"]) ? output["data"] : {}
  const image = ["image/png", "image/jpeg"].find((mimeType) => mimeType in data)
  if (image === undefined) return joined(data["text/plain"])
  const base64 = joined(data[image]).replaceAll(/\s/g, "")
  if (base64.length > mostImageCharacters || !/^[\w+/]+=*$/.test(base64)) return `[${image}, not shown]`
  blocks.push({ type: "image", data: base64, mimeType: image })
  return `[${image}, image ${blocks.length} below]`
}

const mostImageCharacters = 5 * 1024 * 1024

const joined = (text: unknown): string =>
  Array.isArray(text) ? text.filter((line) => typeof line === "string").join("") : typeof text === "string" ? text : ""

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
