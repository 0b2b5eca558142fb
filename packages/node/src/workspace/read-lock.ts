import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/**
 * Read lock of a workspace. A commit of many files takes several turns of the event loop; readers of this host wait
 * until its steps are done or taken back, so that each read sees the workspace before or after a commit.
 */
export class ReadLock {
  readonly #latch = Latch.makeUnsafe(true)

  /** Reads while no commit is half made. */
  readonly shared = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (this.#latch.isOpen()) return read
      // Nothing is opened yet, so a canceled call need not wait, also where it would have to close what it opens.
      return Effect.andThen(Effect.interruptible(this.#latch.await), this.shared(read))
    })

  /** Keeps readers out. Commits of a host follow each other, so one of them holds the lock at a time. */
  hold(): void {
    this.#latch.closeUnsafe()
  }

  release(): void {
    this.#latch.openUnsafe()
  }
}
