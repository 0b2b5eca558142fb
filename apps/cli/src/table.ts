import { cutTo, widthOf } from "./display-width.ts"
import { roomOf } from "./terminal.ts"

/**
 * Rows as columns that fit into the terminal. A last column that is too long is cut, or with `goesOn` wrapped; where
 * the others leave it next to no room, it is put on a line of its own.
 */
export const table = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  { margin = 0, goesOn = false }: { readonly margin?: number; readonly goesOn?: boolean } = {},
  room: number = roomOf(process.stdout) - margin
): string => {
  const widths: Array<number> = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0)
  const isNarrow = room - before < Math.min(widths.at(-1) ?? 0, leastLast)
  return rows
    .map((row) => {
      const others = row.slice(0, -1).map((cell, at) => padTo(cell, widths[at] ?? 0) + gap)
      const last = row.at(-1) ?? ""
      if (isNarrow) return [cutTo(others.join("").trimEnd(), room), below(last, room, goesOn)].join("\n")
      const line = others.join("") + last
      return goesOn ? wrapped(line, widthOf(others.join("")), room) : cutTo(line, room)
    })
    .join("\n")
}

const gap = "  "
/** With less room than this, the last column gets a line of its own. */
const leastLast = 14

const below = (cell: string, room: number, goesOn: boolean): string => {
  const indent = "    "
  return goesOn ? wrapped(indent + cell, indent.length, room) : cutTo(indent + cell, room)
}

/** A line wrapped between words at the width of the terminal; further lines are indented by `indent` columns. */
export const wrapped = (line: string, indent: number, room: number = roomOf(process.stdout)): string => {
  const lines = [""]
  for (const part of line.split(/(?<=\S)(?= )/)) {
    const last = lines.at(-1) ?? ""
    if (last === "" || widthOf(last + part) <= room) lines[lines.length - 1] = last + part
    else lines.push(`${" ".repeat(indent)}${part.trimStart()}`)
  }
  return lines.join("\n")
}

const padTo = (text: string, width: number): string => text + " ".repeat(Math.max(width - widthOf(text), 0))
