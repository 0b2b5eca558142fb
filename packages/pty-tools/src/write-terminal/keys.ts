import * as Effect from "effect/Effect"

import type { Terminal } from "../terminals/terminal.ts"

/** Keys that have no character of their own, and what a terminal sends for them. */
const characters = {
  enter: "\r",
  tab: "\t",
  escape: "\u001B",
  backspace: "\u007F",
  delete: "\u001B[3~",
  page_up: "\u001B[5~",
  page_down: "\u001B[6~",
  interrupt: "\u0003",
  eof: "\u0004",
  suspend: "\u001A",
  quit: "\u001C"
}

/** Keys that send something else while a full-screen program runs. */
const cursorKeys = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" }

export const keyNames = [
  ...(Object.keys(characters) as Array<keyof typeof characters>),
  ...(Object.keys(cursorKeys) as Array<keyof typeof cursorKeys>)
] as const

export type Key = (typeof keyNames)[number]

/** Bytes that pressing these keys sends to the program right now. */
export const pressed = (terminal: Terminal, keys: ReadonlyArray<Key>): Effect.Effect<string> => {
  if (!keys.some((key) => key in cursorKeys)) return Effect.succeed(keys.map((key) => send(key, "[")).join(""))
  return Effect.promise(() => terminal.screen.modes()).pipe(
    Effect.map((modes) => keys.map((key) => send(key, modes.applicationCursorKeys ? "O" : "[")).join(""))
  )
}

const send = (key: Key, introducer: "[" | "O"): string =>
  key in characters
    ? characters[key as keyof typeof characters]
    : `\u001B${introducer}${cursorKeys[key as keyof typeof cursorKeys]}`
