import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { maxBytes, reportFields, reportWire, showReport, terminalId } from "../terminals/haft-words.ts"
import { closeTerminal } from "./close-terminal.ts"

export const haftCloseTerminal = haft.tool({
  name: "close_terminal",
  profile: "all",
  operation: "close-terminal",
  description: "Close a terminal and end its programs; returns unread output.",
  input: z.strictObject({ terminal_id: terminalId, max_bytes: maxBytes }),
  output: z.object({ ...reportFields, was_running: z.boolean() }),
  risk: "safe_write",
  // Nothing can be done with a closed terminal, so nobody need be asked.
  asks: false,
  timeout: "60 seconds",
  execute: Effect.fnUntraced(function* ({ terminal_id, max_bytes }) {
    const closed = yield* closeTerminal(terminal_id, { view: "raw", maxBytes: max_bytes })
    return { ...reportWire(closed), was_running: closed.wasRunning }
  }),
  render: showReport
})
