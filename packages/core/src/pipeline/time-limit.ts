import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * The result of an effect, or of `orElse` when the time is over. Unlike `Effect.timeoutOrElse` it does not wait for an
 * effect that can't be interrupted: that goes on in the background, and its result is lost.
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
