import * as Effect from "effect/Effect"

import { type TerminalReading, report } from "../terminals/report.ts"
import { Terminals } from "../terminals/terminals.ts"

/** Ends a terminal with everything that runs in it, and returns what was not read yet. */
export const closeTerminal = Effect.fnUntraced(function* (id: string, reading: TerminalReading) {
  const terminals = yield* Terminals
  const terminal = yield* terminals.find(id)
  const wasRunning = terminal.end === undefined
  yield* terminals.close(id)
  return { ...(yield* report(terminal, reading)), wasRunning }
})
