import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * What an effect comes to within a time, or something else. Unlike a timeout it does not wait for what can't be
 * interrupted: that goes on by itself, and nobody hears of it again.
 */
export const within =
  <B, E2, R2>(duration: Duration.Input, orElse: () => Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.flatMap(Effect.forkDetach(Effect.interruptible(effect), { startImmediately: true }), (fiber) => {
      const abandon = Effect.forkDetach(Fiber.interrupt(fiber))
      return Effect.interruptible(Fiber.join(fiber)).pipe(
        Effect.onInterrupt(() => abandon),
        Effect.timeoutOrElse({ duration, orElse: () => Effect.andThen(abandon, orElse()) })
      )
    })
