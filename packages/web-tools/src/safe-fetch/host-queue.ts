import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Lets only so many requests to one host run at a time; the others wait their turn. */
export type HostQueue = <A, E, R>(host: string, use: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const makeHostQueue = (parallel: number): HostQueue => {
  const queues = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (host, use) =>
    Effect.suspend(() => {
      const queue = queues.get(host) ?? { semaphore: Semaphore.makeUnsafe(parallel), users: 0 }
      queues.set(host, queue)
      queue.users++
      const leave = Effect.sync(() => {
        if (--queue.users === 0) queues.delete(host)
      })
      return queue.semaphore.withPermits(1)(use).pipe(Effect.ensuring(leave))
    })
}
