import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { ToolError } from "../tool-error.ts"

/** One thing that happened, as it goes on record. `type` is a noun and a verb. */
export interface JournalEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export interface AppendOptions {
  /** Waits until the event would survive a power loss. */
  readonly durable?: boolean
  /**
   * The event may be written together with others, at the end of this turn of the event loop at the latest. `awaited`
   * waits until then. `unheeded` does not, and an event that can't be written then is written when one can be again.
   */
  readonly canWait?: "awaited" | "unheeded"
}

/** The append-only record of one run: one life of a host. */
export class Journal extends Context.Service<
  Journal,
  {
    /** The run's name. */
    readonly run: string
    /** The next step's number, from 1. */
    readonly nextStep: () => number
    /**
     * Puts an event on record. A record that can't be written stops the call: what is not on record does not run.
     */
    readonly append: (
      event: JournalEvent,
      options?: AppendOptions
    ) => Effect.Effect<void, ToolError<"journal_unavailable">>
    /** Calls back for every event from now on; the returned function ends it. */
    readonly subscribe: (listener: (event: JournalEvent) => void) => () => void
  }
>()("@haft/core/Journal") {}

/** A journal that lives in memory, and lets a test read what it holds. */
export const memoryJournal = (events: Array<JournalEvent> = []): Layer.Layer<Journal> =>
  Layer.sync(Journal, () => {
    const listeners = new Set<(event: JournalEvent) => void>()
    let step = 0
    return {
      run: "memory",
      nextStep: () => ++step,
      append: (event) =>
        Effect.sync(() => {
          events.push(event)
          for (const listener of listeners) listener(event)
        }),
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    }
  })
