import * as Effect from "effect/Effect"

import type { Terminal } from "./terminal.ts"

export interface Patience {
  /** Output after this cursor counts as an answer. */
  readonly since: number
  /** The longest wait. */
  readonly yieldMs: number
  /** Silence this long after output means that the program has said what it had to say. */
  readonly quietMs: number
  /** Silence this long without any output means that there is nothing to wait for. */
  readonly silentMs: number
}

/** Waits until the program has ended, has fallen quiet, or the time is up. */
export const settle = (terminal: Terminal, { since, yieldMs, quietMs, silentMs }: Patience): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const begun = performance.now()
    let hasOutput = terminal.output.end > since
    let timer: NodeJS.Timeout | undefined
    const stop = terminal.onChange(() => {
      if (terminal.end === undefined && hasOutput) return
      hasOutput ||= terminal.output.end > since
      clearTimeout(timer)
      look()
    })
    const look = (): void => {
      const due = Math.min(begun + yieldMs, hasOutput ? terminal.lastOutputAt + quietMs : begun + silentMs)
      const left = due - performance.now()
      if (terminal.end === undefined && left > 0) {
        timer = setTimeout(look, Math.ceil(left))
        return
      }
      stop()
      resume(Effect.void)
    }
    look()
    return Effect.sync(() => {
      clearTimeout(timer)
      stop()
    })
  })
