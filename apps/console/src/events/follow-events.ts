/** Message to a tab: the state of the connection, or an event of some workspace. */
export type FeedMessage =
  | { readonly connection: Connection }
  | { readonly name: string; readonly data: { readonly workspace: string; readonly [field: string]: unknown } }

export type Connection = "connecting" | "live" | "lost" | "signed-out"

/** The server sends something every 5 seconds. A connection that was silent for longer is lost, whatever TCP says. */
const silentMs = 12_000
const againMs = 1_000

/** Reads the events of all workspaces, connecting again after every end, until the signal aborts. */
export const followEvents = async (
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  tell: (message: FeedMessage) => void
): Promise<void> => {
  while (!signal.aborted) {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), silentMs)
    let end: Connection = "lost"
    try {
      const response = await fetch("/v1/events", { headers, signal: AbortSignal.any([signal, silence.signal]) })
      if (response.status === 401 || response.status === 403) end = "signed-out"
      const body = response.ok ? response.body : null
      if (body !== null) tell({ connection: "live" })
      let text = ""
      for await (const piece of piecesOf(body)) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silentMs)
        const events = (text + piece).split("\n\n")
        text = events.pop() ?? ""
        for (const event of events) {
          const message = messageIn(event)
          if (message !== undefined) tell(message)
        }
      }
    } catch {
      // The connection broke, was silent for too long, or is not wanted any more.
    }
    clearTimeout(timer)
    tell({ connection: end })
    await new Promise((resolve) => setTimeout(resolve, againMs))
  }
}

// Safari can't iterate over a stream.
async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}

const messageIn = (event: string): FeedMessage | undefined => {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1]
  const [name, data] = [field("event"), field("data")]
  return name === undefined || data === undefined ? undefined : { name, data: JSON.parse(data) }
}
