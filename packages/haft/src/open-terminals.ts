import type { Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import type { Terminal, Terminals, TerminalState } from "@haft/pty-tools"

/** What a terminal printed, addressed by byte from its first one on. */
export interface TerminalOutput {
  /** How it is now. */
  readonly now: () => TerminalState
  /** The bytes after a cursor, as far as they are kept, and where the next reading goes on. */
  readonly read: (cursor: number, limit: number) => { readonly bytes: Uint8Array; readonly cursor: number }
  /** Calls back after every output and once at the end; the returned function stops that. */
  readonly subscribe: (listener: () => void) => () => void
}

/** The terminals that the hosts of a workspace have open, in whichever dialect. Watching them takes nothing from agents. */
export interface OpenTerminals {
  /** Oldest first, ended ones that are still kept included. */
  readonly list: () => ReadonlyArray<TerminalState>
  readonly output: (id: string) => TerminalOutput | undefined
  /** Types for a person who may approve. It is a call like any other, on record and under the rules. */
  readonly type: (id: string, text: string) => Promise<Reply>
  /** Calls back when one opens, ends or is forgotten; the returned function stops that. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Shows the terminals of a plugin that is started, to people; without the plugin there are none. */
export const openTerminals = (
  terminals: typeof Terminals.Service | undefined,
  host: () => Promise<OpenHost>
): OpenTerminals => {
  const all = (): ReadonlyArray<Terminal> => terminals?.list() ?? []
  const named = (id: string): Terminal | undefined => all().find((terminal) => terminal.id === id)
  return {
    list: () => all().map(({ state }) => state),
    output: (id) => {
      const terminal = named(id)
      return terminal && outputOf(terminal)
    },
    type: async (id, text) => {
      const terminal = named(id)
      const delivered = terminal?.delivered ?? 0
      const params = { terminal_id: id, text, yield_time_ms: 250, quiet_ms: 50 }
      const ask = async () => ({ approved: true, reason: "typed by the approver" })
      const reply = await (await host()).call("write_terminal", params, { ask })
      // What a person has seen is still news for the agent.
      if (terminal !== undefined) terminal.delivered = Math.min(terminal.delivered, delivered)
      return reply
    },
    subscribe: (listener) => terminals?.subscribe(listener) ?? (() => {})
  }
}

const outputOf = (terminal: Terminal): TerminalOutput => ({
  now: () => terminal.state,
  read: (cursor, limit) => {
    const from = Math.max(Math.min(cursor, terminal.output.end), terminal.output.start)
    const bytes = terminal.output.slice(from, from + limit)
    return { bytes, cursor: from + bytes.length }
  },
  subscribe: (listener) => terminal.onChange(listener)
})
