import { setImmediate as otherWork, setTimeout as sleep } from "node:timers/promises"

import type { Answer } from "./answer.ts"

/** Where the events of a stream come from. They are asked for when the client takes them, so none pile up here. */
export interface EventFeed {
  /** What there is to send now, formatted: "" while there is nothing, undefined when there will be nothing any more. */
  readonly next: () => string | undefined | Promise<string | undefined>
  /** Calls back when there may be something; the returned function stops that. */
  readonly subscribe: (wake: () => void) => () => void
}

const heartbeatMs = 15_000

/** What happens within so short a time goes out together. */
const gatherMs = 10

/** Server-sent events: what there is, then what happens, with a sign of life in between. */
export const eventStream = (feed: EventFeed): Answer => {
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

/** All streams together work for so long in one turn of the loop; in between everybody else is heard. */
const longestTurnMs = 5
let spentMs = 0
let before: Promise<unknown> = Promise.resolve()

/** One stream after the other, as many as a turn has time for. */
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

/** One event. `data` is JSON in one line; a client that comes back names the last `id` it has seen. */
export const eventText = (
  data: string,
  { id, name }: { readonly id?: string | number; readonly name?: string } = {}
): string => `${id === undefined ? "" : `id: ${id}\n`}${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`
