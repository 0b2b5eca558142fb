/** Edit of one cell of a notebook. */
export interface CellEdit {
  readonly mode: "replace" | "insert" | "delete"
  /** Where the edited cell is, or will be. */
  readonly index: number
  readonly source: string
  readonly cellType?: "code" | "markdown" | undefined
  /** The id of a cell that is inserted. */
  readonly newId?: string
}

/**
 * The text of a notebook after an edit of one cell. Only that cell's text is written anew: numbers, escapes and spacing
 * elsewhere stay as they are.
 */
export const editNotebook = (text: string, { mode, index, source, cellType, newId }: CellEdit): string => {
  const cells = valueAt(text, ["cells"])
  const items = itemsIn(text, cells)
  const indent = indentOf(text, items[0]?.start ?? cells.start)
  if (mode === "insert") {
    const type = cellType ?? "code"
    const cell = written(newCell(type, source, newId), indent)
    const before = items[index - 1]
    if (before !== undefined) return splice(text, before.end, before.end, `,${indent.line}${cell}`)
    const [first] = items
    if (first !== undefined) return splice(text, first.start, first.start, `${cell},${indent.line}`)
    return splice(text, cells.start, cells.end, `[${indent.line}${cell}${indent.outer}]`)
  }
  const item = items[index] ?? cells
  if (mode === "delete") {
    const next = items[index + 1]
    if (next !== undefined) return splice(text, item.start, next.start, "")
    const before = items[index - 1]
    return before === undefined ? splice(text, cells.start, cells.end, "[]") : splice(text, before.end, item.end, "")
  }
  const old = JSON.parse(text.slice(item.start, item.end)) as Readonly<Record<string, unknown>>
  const type = cellType ?? (typeof old["cell_type"] === "string" ? old["cell_type"] : "code")
  const { outputs: _outputs, execution_count: _count, ...kept } = old
  const run = type === "code" ? { execution_count: null, outputs: [] } : {}
  const cell = { ...kept, cell_type: type, ...run, source: linesOf(source) }
  return splice(text, item.start, item.end, written(cell, indent))
}

const newCell = (type: "code" | "markdown", source: string, id: string | undefined) => ({
  cell_type: type,
  ...(type === "code" && { execution_count: null }),
  ...(id !== undefined && { id }),
  metadata: {},
  ...(type === "code" && { outputs: [] }),
  source: linesOf(source)
})

/** A source as notebooks keep it: a list of lines, each with its newline. */
const linesOf = (source: string): ReadonlyArray<string> => source.match(/[^\n]*\n|[^\n]+$/g) ?? []

interface Range {
  readonly start: number
  readonly end: number
}

interface Indent {
  /** A line break with the spaces before a cell. */
  readonly line: string
  /** A line break with the spaces before the end of the list. */
  readonly outer: string
  readonly step: string
}

/** How the text is indented around its cells; not at all where it stands in one line. */
const indentOf = (text: string, cell: number): Indent => {
  const [, spaces] = /\n([ \t]*)$/.exec(text.slice(0, cell)) ?? []
  if (spaces === undefined) return { line: "", outer: "", step: "" }
  const step = spaces.slice(0, Math.max(1, Math.floor(spaces.length / 2)))
  return { line: `\n${spaces}`, outer: `\n${spaces.slice(step.length)}`, step }
}

const written = (value: unknown, { line, step }: Indent): string =>
  JSON.stringify(value, null, step).replaceAll("\n", line === "" ? "" : line)

const splice = (text: string, start: number, end: number, replacement: string): string =>
  text.slice(0, start) + replacement + text.slice(end)

/** The range of a value in a JSON text that is known to be valid. */
const valueAt = (text: string, path: ReadonlyArray<string>): Range => {
  let start = skipSpace(text, 0)
  for (const key of path) start = membersIn(text, start).get(key) ?? start
  return { start, end: endOf(text, start) }
}

const membersIn = (text: string, start: number): ReadonlyMap<string, number> => {
  const members = new Map<string, number>()
  for (let at = skipSpace(text, start + 1); text[at] === '"';) {
    const end = endOf(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    members.set(JSON.parse(text.slice(at, end)) as string, value)
    at = skipSpace(text, skipSpace(text, endOf(text, value)) + 1)
  }
  return members
}

const itemsIn = (text: string, { start }: Range): ReadonlyArray<Range> => {
  const items: Array<Range> = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== "]") {
    const end = endOf(text, at)
    items.push({ start: at, end })
    at = skipSpace(text, end)
    if (text[at] === ",") at = skipSpace(text, at + 1)
  }
  return items
}

const skipSpace = (text: string, from: number): number => {
  let at = from
  while (/\s/.test(text[at] ?? "")) at++
  return at
}

/** The end of the value that begins here. */
const endOf = (text: string, start: number): number => {
  let depth = 0
  let at = start
  do {
    const character = text[at]
    if (character === '"') {
      at++
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1
    } else if (character === "[" || character === "{") depth++
    else if (character === "]" || character === "}") depth--
    at++
  } while (at < text.length && (depth > 0 || (isScalar(text[start]) && !/[\s,\]}]/.test(text[at] ?? ","))))
  return at
}

const isScalar = (first: string | undefined): boolean => first !== '"' && first !== "[" && first !== "{"
