import type { ErrorCode } from "@haft/core"
import * as Effect from "effect/Effect"

import { attempt, type ErrorWith } from "../errno.ts"
import { nextTurn } from "./content.ts"

/** Work on many files, which pauses after each of them. */
export type Work<A = void> = Generator<void, A, void>

/** Work goes on for so long before the event loop gets a turn. */
const turnMs = 20

/** Files that are worked on before the event loop gets a turn, however quick they are. */
export const filesPerTurn = 128

/** Does work file by file, and lets other calls, timers and cancellation through in between. Fails as `attempt` does. */
export const inTurns = <A, const Code extends ErrorCode>(
  codes: ReadonlyArray<Code>,
  begin: () => Work<A>
): Effect.Effect<A, ErrorWith<Code>> =>
  Effect.suspend(() => {
    const work = begin()
    const turn = attempt(codes, () => {
      const until = performance.now() + turnMs
      for (let files = 0; files < filesPerTurn && performance.now() < until; files++) {
        const step = work.next()
        if (step.done === true) return step
      }
      return undefined
    })
    const rest: Effect.Effect<A, ErrorWith<Code>> = Effect.flatMap(turn, (end) =>
      end === undefined ? Effect.flatMap(nextTurn, () => rest) : Effect.succeed(end.value)
    )
    // Frees what the work holds.
    return Effect.onInterrupt(rest, () => Effect.sync(() => void work.return(undefined as A)))
  })

/** Does all of it at once. */
export const atOnce = <A>(work: Work<A>): A => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
