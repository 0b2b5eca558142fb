import type { EventEmitter } from "node:events"

/**
 * Node takes in one new connection in each turn of its loop. While they come, turn after turn, the calls that they
 * bring wait: turns stay short, so that small questions are answered at once, and a call whose client has left again is
 * never begun.
 */
export interface Arrivals {
  /** Resolves when it is this call's turn; nothing while nobody arrives. */
  readonly turn: (call: { readonly signal: AbortSignal }) => Promise<void> | undefined
}

/** No call waits for longer, however many arrive. */
const longestMs = 250

export const arrivalsAt = (server: Pick<EventEmitter, "on">): Arrivals => {
  const waiting: Array<{ readonly signal: AbortSignal; readonly since: number; readonly begin: () => void }> = []
  let hasArrived = false
  let isWatching = false
  const watch = (): void => {
    const isQuiet = !hasArrived
    hasArrived = false
    const [first] = waiting
    if (first !== undefined && (isQuiet || performance.now() - first.since > longestMs)) beginNext()
    isWatching = !isQuiet || waiting.length > 0
    if (isWatching) setImmediate(watch)
  }
  // One in a turn. Those whose clients have left have nothing to do, and take no turn.
  const beginNext = (): void => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.begin()
      if (!next.signal.aborted) return
    }
  }
  server.on("connection", () => {
    hasArrived = true
    if (isWatching) return
    isWatching = true
    setImmediate(watch)
  })
  return {
    turn: ({ signal }) =>
      isWatching ? new Promise((begin) => void waiting.push({ signal, since: performance.now(), begin })) : undefined
  }
}
