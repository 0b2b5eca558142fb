import type * as Effect from "effect/Effect"

import type { Terminal, TerminalState } from "../terminals/terminal.ts"
import { Terminals } from "../terminals/terminals.ts"

export interface ListedTerminal extends TerminalState {
  /** Since somebody used it or it printed something. */
  readonly idleMs: number
  readonly cursor: number
  readonly unreadBytes: number
}

/** The terminals of this host, oldest first, ended ones that can still be read included. */
export const listTerminals: Effect.Effect<ReadonlyArray<ListedTerminal>, never, Terminals> = Terminals.useSync(
  (terminals) => terminals.list().map(listed)
)

const listed = (terminal: Terminal): ListedTerminal => ({
  ...terminal.state,
  idleMs: Math.round(performance.now() - Math.max(terminal.lastUsedAt, terminal.lastOutputAt)),
  cursor: terminal.output.end,
  unreadBytes: terminal.output.end - terminal.delivered
})
