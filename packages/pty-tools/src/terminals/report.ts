import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { WindowSize } from "./native.ts"
import type { Terminal } from "./terminal.ts"

export interface TerminalReading {
  /** From where; from where the last reply ended when absent. */
  readonly cursor?: number | undefined
  readonly view: "raw" | "screen"
  readonly maxBytes: number
}

/** Screen of a terminal, and the state of its program. */
export interface TerminalReport {
  readonly terminal: Terminal
  readonly output: string
  /** Where the next reading goes on. */
  readonly cursor: number
  readonly truncated: boolean
  readonly omittedBytes: number
  readonly isRunning: boolean
  readonly exitCode: number | null
  readonly signal: string | null
  /** With the view `screen`: its size and where the cursor stands, from 1. */
  readonly screen?: WindowSize & { readonly cursorRow: number; readonly cursorColumn: number }
}

/** Reads a terminal. What was shown counts as delivered: a reading without a cursor goes on behind it. */
export const report = Effect.fnUntraced(function* (terminal: Terminal, { cursor, view, maxBytes }: TerminalReading) {
  const { end } = terminal
  if (end === undefined) yield* terminal.inspect
  const from = cursor ?? terminal.delivered
  const since = terminal.output.since(from, maxBytes, end !== undefined)
  terminal.delivered = Math.max(terminal.delivered, since.cursor)
  const facts = {
    terminal,
    isRunning: end === undefined,
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null
  }
  if (view === "raw") {
    const { text: output, truncated, omittedBytes } = since
    return { ...facts, output, cursor: since.cursor, truncated, omittedBytes } satisfies TerminalReport
  }
  const { text, cursorRow, cursorColumn } = yield* Effect.promise(() => terminal.screen.view())
  const screen = { ...terminal.size, cursorRow, cursorColumn }
  return { ...facts, output: text, cursor: since.cursor, truncated: false, omittedBytes: 0, screen }
})

/** Refuses a cursor that no reply has given out. */
export const requireCursor = (
  terminal: Terminal,
  cursor: number | undefined
): Effect.Effect<void, ToolError<"invalid_range">> =>
  cursor === undefined || cursor <= terminal.output.end
    ? Effect.void
    : toolError("invalid_range", `cursor ${cursor} is beyond the output, which ends at ${terminal.output.end}`, {
        suggestion: "Use the cursor of an earlier reply for this terminal, or none.",
        details: { cursor, end: terminal.output.end }
      })
