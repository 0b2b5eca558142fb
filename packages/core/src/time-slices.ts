import * as Effect from "effect/Effect"

const sliceMs = 20
/** Steps between two looks at the clock; work of fewer steps never pauses. */
const stepsBetween = 256

/** Slices of long synchronous work: in between, other calls get a turn and a cancelled call ends. */
export class TimeSlices {
  #until = performance.now() + sliceMs
  #steps = 0

  /** Counts steps. True once the current slice has taken its time; then the work should `yield* pause`. */
  isOver(steps = 1): boolean {
    this.#steps += steps
    if (this.#steps < stepsBetween) return false
    this.#steps = 0
    return performance.now() > this.#until
  }

  readonly pause: Effect.Effect<void> = Effect.map(Effect.yieldNow, () => {
    this.#until = performance.now() + sliceMs
  })

  /** Does work that ends in parts of a few milliseconds, with a pause where the slice is over. */
  run<A>(parts: Generator<void, A, void>): Effect.Effect<A> {
    const next: Effect.Effect<A> = Effect.suspend(() => {
      for (;;) {
        const part = parts.next()
        if (part.done === true) return Effect.succeed(part.value)
        if (performance.now() > this.#until) return Effect.andThen(this.pause, next)
      }
    })
    return next
  }

  /** Pauses between two stages of the work that go over this many lines, where the slice is over. */
  between(lines: number): Effect.Effect<void> {
    return this.isOver(lines) ? this.pause : Effect.void
  }
}
