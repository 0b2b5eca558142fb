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
  profile: "all",
  operation: "write-terminal",
  description: "Type text, press keys, resize or only read a terminal. End a command line with the key enter.",
  input: z.strictObject({
    terminal_id: terminalId,
    text: z.string().max(100_000).default("").describe("Characters to type"),
    keys: z.array(z.enum(keyNames)).max(1000).default([]).describe("Keys to press after the text"),
    cols: windowSize.optional().describe("New width"),
    rows: windowSize.optional().describe("New height"),
    cursor: z.number().int().min(0).optional().describe("Byte to start at, from an earlier reply"),
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
