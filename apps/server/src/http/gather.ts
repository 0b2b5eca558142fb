import { type HttpAnswer, json } from "./answer.ts"

/** The answers of all members of a cluster to one request, this server's own first. */
export interface MemberAnswers {
  readonly answers: ReadonlyArray<HttpAnswer>
  /** Calls back when members have joined, left or become unreachable; the returned function ends that. */
  readonly onMembersChanged: (listener: () => void) => () => void
}

/** Milliseconds that the rest of an answer may take. A member that is frozen or dies while it sends one is left out. */
const patienceMs = 3_000

/** Merges JSON answers into one. */
export const gatherJson =
  <Body>(merge: (bodies: ReadonlyArray<Body>) => Body) =>
  async ({ answers }: MemberAnswers): Promise<HttpAnswer> => {
    const bodies = await Promise.all(
      answers.map(({ body }) => (typeof body === "string" ? JSON.parse(body) : read(body)))
    )
    return json(merge(bodies.filter((body) => body !== undefined) as ReadonlyArray<Body>))
  }

const read = async (body: HttpAnswer["body"]): Promise<unknown> => {
  if (!(body instanceof ReadableStream)) return undefined
  const limit = AbortSignal.timeout(patienceMs)
  const chunks: Array<Uint8Array> = []
  try {
    await body.pipeTo(new WritableStream({ write: (chunk) => void chunks.push(chunk) }), { signal: limit })
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return undefined
  }
}

/**
 * Merges streams of server-sent events, event by event. It ends when one of them does or the members change, so that a
 * client which connects again gets the events of the members that are there by then.
 */
export const gatherEvents = ({ answers, onMembersChanged }: MemberAnswers): HttpAnswer => {
  const sources = answers.flatMap(({ body }) =>
    body instanceof ReadableStream ? [{ reader: body.getReader(), decoder: new TextDecoder(), text: "" }] : []
  )
  type Source = (typeof sources)[number]
  const end = async (): Promise<void> => {
    unsubscribe()
    await Promise.allSettled(sources.map(({ reader }) => reader.cancel()))
  }
  const unsubscribe = onMembersChanged(() => void end())

  /** Whole events that a source has next; undefined at its end. */
  const next = async (source: Source): Promise<readonly [Source, string | undefined]> => {
    const { done, value } = await source.reader.read().catch(() => ({ done: true, value: undefined }))
    if (done) return [source, undefined]
    source.text += source.decoder.decode(value, { stream: true })
    const last = source.text.lastIndexOf(eventEnd)
    const length = last === -1 ? 0 : last + eventEnd.length
    const events = source.text.slice(0, length)
    source.text = source.text.slice(length)
    return [source, events]
  }
  const reading = new Map<Source, ReturnType<typeof next>>()
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        for (;;) {
          for (const source of sources) if (!reading.has(source)) reading.set(source, next(source))
          const [source, events] = await Promise.race(reading.values())
          reading.delete(source)
          if (events === undefined) {
            await end()
            return controller.close()
          }
          if (events !== "") return controller.enqueue(new TextEncoder().encode(events))
        }
      },
      cancel: end
    },
    new CountQueuingStrategy({ highWaterMark: 1 })
  )
  return { headers: answers[0]?.headers ?? {}, body }
}

const eventEnd = "\n\n"
