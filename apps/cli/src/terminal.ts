import { styleText } from "node:util"

type Stream = NodeJS.WriteStream
type Style = Parameters<typeof styleText>[0]

/** Colours on a terminal, and none where NO_COLOR is set or somebody else reads. */
export const styled = (stream: Stream, style: Style, text: string): string =>
  stream.isTTY && (process.env["NO_COLOR"] ?? "") === "" ? styleText(style, text, { validateStream: false }) : text

export const print = (text: string): void => {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** For people, beside the output. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

/** Rows in columns; the last column is cut to fit the terminal. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths: Array<number> = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const room = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY
  return rows
    .map((row) => {
      const line = row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  ")
      return line.length > room ? `${line.slice(0, room - 1)}…` : line
    })
    .join("\n")
}

/** What `work` tells, as a sign of life on stderr, on a terminal only. Work that tells nothing shows nothing. */
export const withSpinner = async <A>(work: (tell: (message: string) => void) => Promise<A>): Promise<A> => {
  if (!process.stderr.isTTY) return work(() => undefined)
  const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
  let message = ""
  let count = 0
  const draw = (): void => {
    const text = `${frames[count++ % frames.length]} ${message}`.slice(0, process.stderr.columns - 1)
    process.stderr.write(`\r\u001B[2K${text}`)
  }
  let timer: NodeJS.Timeout | undefined
  try {
    return await work((told) => {
      // It may come from a program: nothing in it moves the cursor or hides a part of it.
      message = told.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
      timer ??= setInterval(draw, 120)
    })
  } finally {
    clearInterval(timer)
    if (count > 0) process.stderr.write("\r\u001B[2K")
  }
}
