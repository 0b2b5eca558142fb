import type { EventEmitter } from "node:events"

/**
 * Holds calls back while many clients connect at once. Node accepts one new connection in each turn of its event loop,
 * so every call run in between delays the clients that still wait to be accepted. While connections keep coming, calls
 * wait: cheap requests are answered at once, and a call whose client has given up meanwhile is never begun.
 */
export interface Arrivals {
  /** Resolves when it is this call's turn; undefined when it need not wait, because nobody is connecting. */
  readonly turn: (call: { readonly signal: AbortSignal }) => Promise<void> | undefined
}

/** Once the oldest call has waited for so long, one is begun in each turn, however many clients connect. */
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
  // Begins one call. Those whose clients have left are only told to stop waiting, and don't count.
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
