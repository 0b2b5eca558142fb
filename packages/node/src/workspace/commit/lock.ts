import { isToolError, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Semaphore from "effect/Semaphore"

import { naming, stateName } from "../../errno.ts"
import { repeatUntilDone } from "../content.ts"
import type { KeptPlace } from "../paths/last-path-cache.ts"
import type { TakeTurn } from "./lock-between-processes.ts"
import type { Pause } from "./stage.ts"

export interface Turns {
  /** Between processes. */
  readonly takeTurn: TakeTurn
  /** Within this process. */
  readonly turn: Semaphore.Semaphore
  readonly kept: KeptPlace
}

/** One commit at a time: in this process by a semaphore, between processes by a turn in the state directory. */
export const exclusively = <A, E>(
  { takeTurn, turn, kept }: Turns,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | ToolError<"write_failed">> => {
  const take: Effect.Effect<() => void, ToolError<"write_failed">> = attempt(() => {
    // What was looked at a moment ago may be another file after this commit.
    kept.forget()
    const release = naming(stateName, () => takeTurn())
    if (release !== undefined) return release
    throw makeToolError("write_failed", "another host is changing this workspace; nothing was changed", {
      suggestion: "Repeat the call in a moment.",
      retryable: true
    })
  })
  const patient = take.pipe(
    Effect.retry({ schedule: Schedule.max([Schedule.spaced("10 millis"), Schedule.recurs(1000)]), while: isPassing })
  )
  return turn.withPermits(1)(
    Effect.acquireUseRelease(
      patient,
      () => work,
      (release) => Effect.sync(release)
    )
  )
}

const isPassing = ({ retryable }: ToolError): boolean => retryable === true

/** Runs work that pauses, and lets others have their turn in the pauses. */
export const drive = <A, E extends ToolError>(start: () => Generator<Pause, A>): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(start),
    (work) => {
      let result: IteratorResult<Pause, A>
      const slice = attempt<boolean, E>(() => {
        const until = performance.now() + 20
        do result = work.next()
        while (result.done !== true && result.value === undefined && performance.now() < until)
        return result.done === true
      })
      // Not to be interrupted: what is waited for uses descriptors, which are closed afterwards.
      const pause = Effect.suspend(() =>
        result.done !== true && result.value !== undefined
          ? Effect.promise(() => result.value as Promise<unknown>)
          : Effect.void
      ).pipe(Effect.uninterruptible)
      return repeatUntilDone(Effect.tap(slice, () => pause)).pipe(Effect.map(() => result.value as A))
    },
    (work) => Effect.sync(() => work.return(undefined as A))
  )

/** Runs code that throws a ToolError for an expected failure; anything else it throws is a defect. */
export const attempt = <A, E extends ToolError>(thunk: () => A): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(thunk())
    } catch (error) {
      if (isToolError(error)) return Effect.fail(error as E)
      throw error
    }
  })
