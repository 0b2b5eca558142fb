import { stripVTControlCharacters, styleText } from "node:util"

type Stream = NodeJS.WriteStream
type Style = Parameters<typeof styleText>[0]

/** Text in colour, on a terminal and unless NO_COLOR is set; otherwise plain. */
export const styled = (stream: Stream, style: Style, text: string): string =>
  takesEscapes(stream) && (process.env["NO_COLOR"] ?? "") === ""
    ? styleText(style, text, { validateStream: false })
    : text

/** Whether a stream is a terminal that knows escape sequences. A dumb one would show them as text. */
export const takesEscapes = ({ isTTY }: Stream): boolean => isTTY && process.env["TERM"] !== "dumb"

/** How many columns a line may have: without end when it does not go to a terminal, or to one that says 0. */
export const roomOf = ({ isTTY, columns }: Stream): number =>
  isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY

export const print = (text: string): void => {
  // A reader that has gone away must not end the command: it finishes its work, and `lostOutput` tells afterwards.
  if (!hasPrinted) process.stdout.on("error", () => undefined)
  hasPrinted = true
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

let hasPrinted = false

/**
 * Why some of the output is lost, as on a full disk. A reader that closes the pipe, as `head` does, has lost nothing.
 */
export const lostOutput = (): Error | undefined => {
  const error: NodeJS.ErrnoException | null = hasPrinted ? process.stdout.errored : null
  return error === null || error.code === "EPIPE" ? undefined : error
}

/**
 * Text of a tool, made safe for a terminal: nothing in it moves the cursor, sends escape sequences or changes the
 * direction of writing. Output to a file or another program is left as it is.
 */
export const forScreen = ({ isTTY }: Pick<Stream, "isTTY">, text: string): string =>
  isTTY
    ? stripVTControlCharacters(text)
        .replaceAll("\r\n", "\n")
        .replaceAll(unruly, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    : text

// Control characters other than tab and newline, and those that change the direction of writing.
const unruly = /(?![\t\n])\p{Cc}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** Prints a line for people, to stderr: stdout has the output alone. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
