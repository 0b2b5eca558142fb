import * as Effect from "effect/Effect"

const sliceMs = 20
/** Steps between two looks at the clock; work of fewer steps never pauses. */
const stepsBetween = 256

/** Slices of long synchronous work: in between, other calls get a turn and a cancelled call ends. */
export class TimeSlices {
  #until = performance.now() + sliceMs
  #steps = 0

  /** Counts a step. True once the current slice has taken its time; then the work should `yield* pause`. */
  isOver(): boolean {
    return ++this.#steps % stepsBetween === 0 && performance.now() > this.#until
  }

  readonly pause: Effect.Effect<void> = Effect.callback<void>((resume) => {
    const handle = setImmediate(() => {
      this.#until = performance.now() + sliceMs
      resume(Effect.void)
    })
    return Effect.sync(() => clearImmediate(handle))
  })
}
