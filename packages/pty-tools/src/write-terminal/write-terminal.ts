import { CurrentCall, type ToolError, toolError, type Touches } from "@haft/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

import { echoes } from "../terminals/echo.ts"
import type { WindowSize } from "../terminals/native.ts"
import { type TerminalReading, report, requireCursor } from "../terminals/report.ts"
import { settle } from "../terminals/settle.ts"
import type { Terminal } from "../terminals/terminal.ts"
import { Terminals } from "../terminals/terminals.ts"
import { type Key, keyNames, pressed } from "./keys.ts"

/** Text to type, and its terminal. An empty text only reads. */
export interface Typing {
  readonly id: string
  readonly text: string
  readonly keys: ReadonlyArray<Key>
}

export interface Writing extends Typing, TerminalReading {
  /** The call's arguments, as {@link typesInto} was given them. */
  readonly call: object
  readonly size?: Partial<WindowSize>
  readonly yieldMs: number
  readonly quietMs: number
  /** How long to wait for a first word; as long as for all when absent. */
  readonly silentMs?: number
}

/** Types into a terminal, or only listens, and waits for the answer. */
export const writeTerminal = Effect.fnUntraced(function* (writing: Writing) {
  const { id, cursor, size, view, maxBytes, yieldMs, quietMs, silentMs = yieldMs } = writing
  const terminals = yield* Terminals
  const terminal = yield* terminals.find(id)
  const typed = yield* typedText(terminal, writing)
  if (typed !== "" || size !== undefined) yield* requireRunning(terminal)
  if (typed !== "") yield* requireReader(terminal)
  yield* requireCursor(terminal, cursor)
  if (typed !== "") {
    const assessed = assessedLines.get(writing.call)
    if (assessed?.terminal !== terminal) return yield* stale(`${id} was opened anew`)
    if (yield* wentHidden(terminal, writing)) return yield* stale(`${id} has stopped echoing`)
    // Nothing may come between this look and the typing.
    if (assessed.line !== terminal.pendingLine) return yield* stale(`the line in ${id} has changed`)
  }
  terminal.lastUsedAt = performance.now()
  const from = cursor ?? terminal.delivered
  terminal.output.pin(from)
  if (size !== undefined) terminal.resize({ ...terminal.size, ...size })
  const since = typed === "" && size === undefined ? from : terminal.output.end
  if (typed !== "") terminal.type(typed)
  yield* settle(terminal, { since, yieldMs, quietMs, silentMs })
  return yield* report(terminal, { cursor, view, maxBytes })
})

/**
 * Touches of a write: the whole line as it will stand, so that a command that arrives in pieces is judged as one.
 * Terminal and line are remembered: a write that finds others is refused.
 */
export const typesInto = Effect.fnUntraced(function* (typing: Typing, call: object) {
  const terminals = yield* Terminals
  const terminal = yield* terminals.find(typing.id)
  const typed = yield* typedText(terminal, typing)
  if (typed === "") return {} satisfies Touches
  yield* requireRunning(terminal)
  const { pendingLine } = terminal
  if (terminal.lineAfter(typed).length > longestLine) {
    return yield* toolError(
      "invalid_params",
      `the line in ${typing.id} would be longer than ${longestLine} characters`,
      {
        suggestion: "End the line with enter, or drop it with interrupt.",
        details: { pending: pendingLine.length }
      }
    )
  }
  assessedLines.set(call, { terminal, line: pendingLine })
  return { types: { terminal: typing.id, text: pendingLine + typed } } satisfies Touches
})

/**
 * The arguments as they may be recorded: without the text, unless the device echoes it. They are not validated yet, so
 * the text may be in any of them: every text is withheld but the terminal's id, named `idName`, and what is known.
 */
export const withoutHiddenText = Effect.fnUntraced(function* (args: unknown, idName: string) {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return withheld(args)
  const { [idName]: id, keys, ...others } = args as Record<string, unknown>
  if (Object.values(others).every((value) => withheld(value) === value) && areKeys(keys)) return args
  const terminals = yield* Terminals
  const terminal = yield* Effect.option(terminals.find(String(id)))
  if (Option.isSome(terminal) && (yield* echoes(terminal.value))) {
    terminal.value.echoedAt = yield* Clock.currentTimeMillis
    return args
  }
  const kept = Object.entries(args).map(([name, value]) => {
    const isPlain = (name === idName && typeof value === "string") || (name === "keys" && areKeys(value))
    return [name, isPlain || (name === "view" && isView(value)) ? value : withheld(value)]
  })
  return Object.fromEntries(kept) as unknown
})

const withheld = (value: unknown): unknown => {
  if (typeof value === "string") {
    return value.replaceAll(harmless, "") === ""
      ? value
      : `[${value.length} characters, which the terminal does not echo]`
  }
  return typeof value === "object" && value !== null ? "[withheld]" : value
}

const areKeys = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every((key) => keyNames.includes(key as Key)))

const isView = (value: unknown): boolean => value === "raw" || value === "screen"

/** Characters that pending input may have at most: far more than a terminal's own line holds. */
const longestLine = 100_000

// Line ends and the characters of control keys give nothing away.
const harmless = /[\p{Cc}\s]/gu

const assessedLines = new WeakMap<object, { readonly terminal: Terminal; readonly line: string }>()

const typedText = (terminal: Terminal, { text, keys }: Typing): Effect.Effect<string> =>
  Effect.map(pressed(terminal, keys), (sequence) => text + sequence)

/** Tests whether a text that may be on record by now, because it would have been shown, would be typed unseen. */
const wentHidden = Effect.fnUntraced(function* (terminal: Terminal, { text }: Typing) {
  const { startedAt } = yield* CurrentCall
  const { echoedAt } = terminal
  if (echoedAt === undefined || echoedAt < startedAt || withheld(text) === text) return false
  return !(yield* echoes(terminal))
})

const stale = (what: string): Effect.Effect<never, ToolError<"stale_file">> =>
  toolError("stale_file", `${what} since the call was assessed; nothing was typed`, {
    suggestion: "Read the terminal, then write again.",
    retryable: true
  })

/** Refuses to pile up text for a program that does not read. */
const requireReader = ({ id, unreadInput }: Terminal): Effect.Effect<void, ToolError<"session_limit">> =>
  unreadInput < mostUnread
    ? Effect.void
    : toolError("session_limit", `the program in ${id} has ${unreadInput} bytes left to read; nothing was typed`, {
        suggestion: "Wait until it reads, or close the terminal.",
        details: { session: id, unread_bytes: unreadInput },
        retryable: true
      })

const mostUnread = 500_000

const requireRunning = ({ id, end }: Terminal): Effect.Effect<void, ToolError<"session_ended">> =>
  end === undefined
    ? Effect.void
    : toolError("session_ended", `the program in ${id} has ended (${end.signal ?? `exit code ${end.exitCode}`})`, {
        suggestion: "Read what is left of its output by writing nothing, or open a new terminal.",
        details: { session: id, exit_code: end.exitCode, signal: end.signal }
      })
