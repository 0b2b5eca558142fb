import { setImmediate as otherWork, setTimeout as sleep } from "node:timers/promises"

import type { HttpAnswer } from "./answer.ts"

/** Where the events of a stream come from. They are read only when the client is ready for them, so none pile up. */
export interface EventFeed {
  /** The events to send now, as text: "" when there are none yet, undefined when the stream is over. */
  readonly next: () => string | undefined | Promise<string | undefined>
  /** Calls `wake` whenever there may be new events; the returned function ends that. */
  readonly subscribe: (wake: () => void) => () => void
}

/** Clients take a stream that is silent for longer as lost. */
const heartbeatMs = 5_000

/** Events within this time are sent together. */
const gatherMs = 10

/** Server-sent events: those the feed has, then new ones as they happen, and a heartbeat while there are none. */
export const eventStream = (feed: EventFeed): HttpAnswer => {
  const over = new AbortController()
  let isWoken = false
  let resume = (): void => {}
  const unsubscribe = feed.subscribe(() => {
    isWoken = true
    resume()
  })
  const stop = (): void => {
    over.abort()
    unsubscribe()
    resume()
  }
  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, heartbeatMs)
      resume = () => {
        clearTimeout(timer)
        resolve()
      }
      if (isWoken || over.signal.aborted) resume()
    })

  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode("retry: 1000\n\n")),
      pull: async (controller) => {
        while (!over.signal.aborted) {
          isWoken = false
          const text = await inShortTurns(feed.next)
          if (over.signal.aborted) return
          if (text === undefined) {
            stop()
            return controller.close()
          }
          if (text !== "") return controller.enqueue(encoder.encode(text))
          await rest()
          if (over.signal.aborted) return
          if (!isWoken) return controller.enqueue(encoder.encode(": still here\n\n"))
          await sleep(gatherMs)
        }
      },
      cancel: stop
    },
    new CountQueuingStrategy({ highWaterMark: 1 })
  )
  return { headers: { "content-type": "text/event-stream", "cache-control": "no-store" }, body }
}

/** How long all streams together may work before the event loop gets to do something else. */
const longestTurnMs = 5
let spentMs = 0
let before: Promise<unknown> = Promise.resolve()

/** Runs the work of all streams one after the other, and lets the event loop go on whenever it took too long. */
const inShortTurns = <A>(work: () => A | Promise<A>): Promise<A> => {
  const done = before.then(async () => {
    if (spentMs > longestTurnMs) {
      await otherWork()
      spentMs = 0
    }
    const began = performance.now()
    try {
      return await work()
    } finally {
      spentMs += performance.now() - began
    }
  })
  before = done.catch(() => undefined)
  return done
}

const encoder = new TextEncoder()

/** One event as text. `data` is JSON in one line; a client that reconnects sends the last `id` it has seen. */
export const eventText = (
  data: string,
  { id, name }: { readonly id?: string | number; readonly name?: string } = {}
): string => `${id === undefined ? "" : `id: ${id}\n`}${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`
