import { styleText } from "node:util"

import { visibleJson, visibleLines } from "@haft/core/visible-text"

type Stream = NodeJS.WriteStream
type Style = Parameters<typeof styleText>[0]

/** Text in color: on a terminal unless NO_COLOR is set, and wherever FORCE_COLOR is; otherwise plain. */
export const styled = (stream: Stream, style: Style, text: string): string =>
  isColored(stream) ? styleText(style, text, { validateStream: false }) : text

const isColored = (stream: Stream): boolean => {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted = "" } = process.env
  if (forced !== undefined) return forced !== "0" && forced !== "false"
  return unwanted === "" && takesEscapes(stream)
}

/** Tests for a terminal that supports escape sequences. A dumb one would show them as text. */
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
 * Text of a tool, made safe for a terminal by the one escaping function for people. Colors are left out; every other
 * escape sequence is spelled out, as a name without it could be taken for another. Output to a file or another program
 * is left as it is.
 */
export const forScreen = ({ isTTY }: Pick<Stream, "isTTY">, text: string): string =>
  isTTY ? visibleLines(text.replaceAll("\r\n", "\n").replaceAll(color, "")) : text

const color = new RegExp(String.raw`${String.fromCodePoint(27)}\[[\d;:]{0,40}m`, "g")

export const printJson = (value: unknown): void => {
  const json = JSON.stringify(value, null, 2)
  print(process.stdout.isTTY ? visibleJson(json) : json)
}

/** Prints a line for people, to stderr: stdout has the output alone. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
