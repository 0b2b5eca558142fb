import type * as Effect from "effect/Effect"

import type { WindowSize } from "../terminals/native.ts"
import { Terminals } from "../terminals/terminals.ts"

export interface ListedTerminal {
  readonly id: string
  readonly command: string
  readonly directory: string
  readonly isRunning: boolean
  readonly exitCode: number | null
  readonly signal: string | null
  readonly size: WindowSize
  /** Milliseconds since the epoch. */
  readonly openedAt: number
  /** Since somebody used it or it printed something. */
  readonly idleMs: number
  readonly cursor: number
  readonly unreadBytes: number
  readonly recording: string | null
}

/** The terminals of this host, oldest first, ended ones that can still be read included. */
export const listTerminals: Effect.Effect<ReadonlyArray<ListedTerminal>, never, Terminals> = Terminals.useSync(
  (terminals) =>
    terminals.list().map((terminal) => ({
      id: terminal.id,
      command: terminal.command,
      directory: terminal.directory,
      isRunning: terminal.end === undefined,
      exitCode: terminal.end?.exitCode ?? null,
      signal: terminal.end?.signal ?? null,
      size: terminal.size,
      openedAt: terminal.openedAt,
      idleMs: Math.round(performance.now() - Math.max(terminal.lastUsedAt, terminal.lastOutputAt)),
      cursor: terminal.output.end,
      unreadBytes: terminal.output.end - terminal.delivered,
      recording: terminal.recording ?? null
    }))
)
