import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import {
  maxBytes,
  quietTime,
  reportFields,
  reportWire,
  showReport,
  terminalId,
  view,
  windowSize,
  yieldTime
} from "../terminals/haft-words.ts"
import { keyNames } from "./keys.ts"
import { typesInto, withoutHiddenText, writeTerminal } from "./write-terminal.ts"

export const haftWriteTerminal = haft.tool({
  name: "write_terminal",
  operation: "write-terminal",
  description:
    "Type text and press keys in a terminal, resize it, or only read it (type nothing). Returns what was printed once " +
    "the program ends, falls quiet or yield_time_ms is up. End a command line with the key enter.",
  input: z.strictObject({
    terminal_id: terminalId,
    text: z.string().max(100_000).default("").describe("Characters to type, control characters included"),
    keys: z.array(z.enum(keyNames)).max(1000).default([]).describe("Keys to press after the text, in order"),
    cols: windowSize.optional().describe("New width of the window"),
    rows: windowSize.optional().describe("New height of the window"),
    cursor: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("Return output from here, as an earlier reply gave it; where the last reply ended when absent"),
    yield_time_ms: yieldTime.default(250),
    quiet_ms: quietTime.default(150),
    view,
    max_bytes: maxBytes
  }),
  output: z.object(reportFields),
  risk: "dangerous",
  // Reading and resizing need no consent; typing does, each time.
  asks: ({ types }) => types !== undefined,
  timeout: "60 seconds",
  forRecord: (args) => withoutHiddenText(args, "terminal_id"),
  touches: (input) => typesInto({ id: input.terminal_id, text: input.text, keys: input.keys }, input),
  execute: Effect.fnUntraced(function* (input) {
    const { terminal_id: id, text, keys, cols, rows, cursor, yield_time_ms, quiet_ms, view, max_bytes } = input
    const size = { ...(cols !== undefined && { cols }), ...(rows !== undefined && { rows }) }
    const isResized = cols !== undefined || rows !== undefined
    const written = yield* writeTerminal({
      call: input,
      id,
      text,
      keys,
      ...(isResized && { size }),
      cursor,
      yieldMs: yield_time_ms,
      quietMs: quiet_ms,
      view,
      maxBytes: max_bytes
    })
    return reportWire(written)
  }),
  render: showReport
})
