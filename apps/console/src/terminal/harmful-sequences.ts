import type { Terminal } from "@xterm/xterm"

/** Has the emulator ignore those escape sequences of a program that would do harm in a browser. */
export const ignoreHarmfulSequences = (terminal: Terminal): void => {
  const { parser } = terminal
  for (const [final, bound] of Object.entries(repeated)) {
    parser.registerCsiHandler({ final }, ([count]) => Number(count) > terminal[bound])
  }
  for (const question of questions) parser.registerCsiHandler(question, () => true)
  for (const color of colors) parser.registerOscHandler(color, (value) => value.split(";").includes("?"))
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true)
}

/**
 * Sequences with a count: tab, repeat, insert, delete and scroll lines. The emulator would obey a count of two thousand
 * million, and the page would hang; so counts beyond the size of the window are ignored.
 */
const repeated = { I: "cols", Z: "cols", b: "cols", L: "rows", M: "rows", S: "rows", T: "rows" } as const

/**
 * Queries to the terminal: its kind, its state, its modes, the place of the cursor. The host answers them itself, as
 * there may be nobody watching. The emulator's answer would be a second one, and arrive as if a person had typed it.
 */
const questions = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" }
]

/** The colors of palette, foreground, background and cursor: setting them is fine, asking for them is a query. */
const colors = [4, 10, 11, 12]
