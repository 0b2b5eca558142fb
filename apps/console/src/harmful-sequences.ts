import type { Terminal } from "@xterm/xterm"

/** Has the emulator pass over orders of a program that a browser must not carry out. */
export const passOver = (terminal: Terminal): void => {
  const { parser } = terminal
  for (const [final, bound] of Object.entries(repeated)) {
    parser.registerCsiHandler({ final }, ([count]) => Number(count) > terminal[bound])
  }
  for (const question of questions) parser.registerCsiHandler(question, () => true)
  for (const colour of colours) parser.registerOscHandler(colour, (value) => value.split(";").includes("?"))
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true)
}

/**
 * Orders to tab, to repeat, to insert, delete or scroll lines. The emulator carries them out as often as it is told,
 * two thousand million times if need be, and the page hangs; so those that go beyond the window are ignored.
 */
const repeated = { I: "cols", Z: "cols", b: "cols", L: "rows", M: "rows", S: "rows", T: "rows" } as const

/**
 * What a terminal is, how it is and is set, where the cursor is. The host answers such questions itself, whether
 * anybody watches or not; a second answer would arrive as if the person had typed it.
 */
const questions = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" }
]

/** The palette, the foreground, the background and the cursor: a program may set them, and also ask for them. */
const colours = [4, 10, 11, 12]
