import type { Answer } from "./answer.ts"

/** An event with the number a client can come back with. */
export interface NumberedEvent {
  readonly id: string
  readonly data: unknown
}

/** News without a number: it tells how things are now, and is not sent again. */
export interface PassingEvent {
  readonly name: string
  readonly data: unknown
}

export interface EventSource {
  /** What came after the event with this id, oldest first; all that is kept when the id is absent or unknown. */
  readonly since: (id: string | undefined) => Iterable<NumberedEvent> | Promise<Iterable<NumberedEvent>>
  readonly subscribe: (listener: (event: NumberedEvent) => void) => () => void
  readonly subscribeToPassing: (listener: (event: PassingEvent) => void) => () => void
}

/** Events that a client has not read yet; one that falls further behind is dropped and can come back. */
const mostUnread = 10_000
const heartbeatMs = 15_000

/** Server-sent events: first what the client missed, then what happens, with a sign of life in between. */
export const eventStream = async (source: EventSource, lastEventId: string | undefined): Promise<Answer> => {
  let stop = (): void => {}
  const encoder = new TextEncoder()
  const live: Array<NumberedEvent> = []
  let send = (event: NumberedEvent | PassingEvent): void => void ("id" in event && live.push(event))
  // Subscribed before the past is read, so that nothing falls in between; seen twice is told apart by id.
  const subscriptions = [source.subscribe((event) => send(event)), source.subscribeToPassing((event) => send(event))]
  const past = [...(await source.since(lastEventId))]

  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const write = (text: string): void => controller.enqueue(encoder.encode(text))
        const timer = setInterval(() => write(": still here\n\n"), heartbeatMs)
        stop = () => {
          clearInterval(timer)
          for (const unsubscribe of subscriptions) unsubscribe()
        }
        send = (event) => {
          if ((controller.desiredSize ?? 0) < -mostUnread) {
            stop()
            controller.error(new Error("the client reads too slowly"))
            return
          }
          write(format(event))
        }
        // The first bytes carry the headers: without them a client would wait for the first event to be connected.
        write("retry: 1000\n\n")
        const seen = new Set(past.map(({ id }) => id))
        for (const event of [...past, ...live.filter(({ id }) => !seen.has(id))]) write(format(event))
      },
      cancel: () => stop()
    },
    new CountQueuingStrategy({ highWaterMark: 1 })
  )
  return { headers: { "content-type": "text/event-stream", "cache-control": "no-store" }, body }
}

const format = (event: NumberedEvent | PassingEvent): string =>
  `${"id" in event ? `id: ${event.id}` : `event: ${event.name}`}\ndata: ${JSON.stringify(event.data)}\n\n`
