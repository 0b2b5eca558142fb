import type { Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import type { Terminal, Terminals, TerminalState } from "@haft/pty-tools"

/** The output of a terminal. A cursor counts its bytes from the first one on. */
export interface TerminalOutput {
  /** The present state of the terminal. */
  readonly now: () => TerminalState
  /** The bytes from a cursor on, as far as they are still kept, and the cursor for the next read. */
  readonly read: (cursor: number, limit: number) => { readonly bytes: Uint8Array; readonly cursor: number }
  /** Calls back after every output and once at the end; the returned function stops that. */
  readonly subscribe: (listener: () => void) => () => void
}

/**
 * The terminals that the hosts of a workspace have open, in all dialects. What is watched here, agents can still read.
 */
export interface OpenTerminals {
  /** Oldest first, ended ones that are still kept included. */
  readonly list: () => ReadonlyArray<TerminalState>
  readonly output: (id: string) => TerminalOutput | undefined
  /** Types into a terminal as a call that an approver makes: it is recorded, and the rules apply. */
  readonly type: (id: string, text: string) => Promise<Reply>
  /** Calls back when one opens, ends or is forgotten; the returned function stops that. */
  readonly subscribe: (listener: () => void) => () => void
  /** Calls back with the id of a terminal after every output; the returned function stops that. */
  readonly subscribeToOutput: (listener: (id: string) => void) => () => void
}

/** The terminals of the started plugin; without the plugin there are none. */
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
      // The call has marked the output as delivered; but the person got it, and the agent has yet to read it.
      if (terminal !== undefined) terminal.delivered = Math.min(terminal.delivered, delivered)
      return reply
    },
    subscribe: (listener) => terminals?.subscribe(listener) ?? (() => {}),
    subscribeToOutput: (listener) => {
      const watched = new Map<string, () => void>()
      const watch = (): void => {
        const now = all()
        for (const terminal of now) {
          if (!watched.has(terminal.id))
            watched.set(
              terminal.id,
              terminal.onChange(() => listener(terminal.id))
            )
        }
        for (const [id, stop] of watched) {
          if (now.some((terminal) => terminal.id === id)) continue
          stop()
          watched.delete(id)
        }
      }
      watch()
      const unsubscribe = terminals?.subscribe(watch)
      return () => {
        unsubscribe?.()
        for (const stop of watched.values()) stop()
      }
    }
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
