import { stripVTControlCharacters, styleText } from "node:util"

import { cutTo, widthOf } from "./display-width.ts"

type Stream = NodeJS.WriteStream
type Style = Parameters<typeof styleText>[0]

/** Colours on a terminal, and none where NO_COLOR is set or somebody else reads. */
export const styled = (stream: Stream, style: Style, text: string): string =>
  takesOrders(stream) && (process.env["NO_COLOR"] ?? "") === ""
    ? styleText(style, text, { validateStream: false })
    : text

// A dumb one shows orders as text.
const takesOrders = ({ isTTY }: Stream): boolean => isTTY && process.env["TERM"] !== "dumb"

export const print = (text: string): void => {
  // What was begun is brought to its end, whatever becomes of the output.
  if (!hasPrinted) process.stdout.on("error", () => undefined)
  hasPrinted = true
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

let hasPrinted = false

/** Why some of the output is lost, as on a full disk. Whoever reads may have seen enough, as `head` does: that is none. */
export const lostOutput = (): Error | undefined => {
  const error: NodeJS.ErrnoException | null = hasPrinted ? process.stdout.errored : null
  return error === null || error.code === "EPIPE" ? undefined : error
}

/**
 * What a tool says, as a person's screen may have it: there, nothing in it moves the cursor, speaks to the terminal or
 * changes the direction of writing. Whoever else reads gets it as it is.
 */
export const forScreen = ({ isTTY }: Pick<Stream, "isTTY">, text: string): string =>
  isTTY
    ? stripVTControlCharacters(text)
        .replaceAll("\r\n", "\n")
        .replaceAll(unruly, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    : text

// Control characters but for tab and newline, and what turns the direction of writing.
const unruly = /(?![\t\n])\p{Cc}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** For people, beside the output. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

/**
 * Rows in columns that fit the terminal. The last column is cut, or goes on below itself; where the others leave it next
 * to no room, it stands below them.
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
/** A last column with less room says next to nothing. */
const leastLast = 14

const below = (cell: string, room: number, goesOn: boolean): string => {
  const indent = "    "
  return goesOn ? wrapped(indent + cell, indent.length, room) : cutTo(indent + cell, room)
}

/** A line broken between words where the terminal ends; what goes on is moved in by `indent`. */
export const wrapped = (line: string, indent: number, room: number = roomOf(process.stdout)): string => {
  const lines = [""]
  for (const part of line.split(/(?<=\S)(?= )/)) {
    const last = lines.at(-1) ?? ""
    if (last === "" || widthOf(last + part) <= room) lines[lines.length - 1] = last + part
    else lines.push(`${" ".repeat(indent)}${part.trimStart()}`)
  }
  return lines.join("\n")
}

// A terminal that does not know its width says 0.
const roomOf = ({ isTTY, columns }: Stream): number => (isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY)

const padTo = (text: string, width: number): string => text + " ".repeat(Math.max(width - widthOf(text), 0))

/** Work that is done sooner than this shows no sign of it. */
const patienceMs = 400

let hush = (): void => undefined

/** A person is being asked: nothing moves on the terminal before there is news. */
export const hushSpinner = (): void => hush()

/** A sign of life on stderr while `work` goes on, with what it tells; on a terminal only. */
export const withSpinner = async <A>(
  name: string,
  work: (tell: (message: string) => void) => Promise<A>
): Promise<A> => {
  if (!takesOrders(process.stderr)) return work(() => undefined)
  const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
  const began = performance.now()
  let message = name
  let count = 0
  let isHushed = false
  const clear = (): void => {
    if (count > 0) process.stderr.write("\r\u001B[2K")
  }
  const draw = (): void => {
    const elapsed = performance.now() - began
    if (isHushed || elapsed < patienceMs) return
    const news = message === name ? `${name} ${Math.floor(elapsed / 1000)} s` : message
    const text = `${frames[count++ % frames.length]} ${news}`
    process.stderr.write(`\r\u001B[2K${cutTo(text, roomOf(process.stderr) - 1)}`)
  }
  hush = () => {
    if (!isHushed) clear()
    isHushed = true
  }
  const timer = setInterval(draw, 120)
  try {
    return await work((told) => {
      message = forScreen(process.stderr, told).replaceAll(/\s+/g, " ")
      isHushed = false
    })
  } finally {
    clearInterval(timer)
    if (!isHushed) clear()
    hush = () => undefined
  }
}
