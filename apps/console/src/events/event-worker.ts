import type { FeedMessage } from "./follow-events.ts"
import { type FeedRequest, sharedEvents } from "./shared-events.ts"

// Runs once for all tabs of a browser: six streams would take all the connections that a browser makes to a server.
const events = sharedEvents()

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports
  if (port === undefined) return
  const tell = (message: FeedMessage): void => port.postMessage(message)
  port.addEventListener("message", ({ data }: MessageEvent<FeedRequest | "leave">) =>
    events.ask(tell, data === "leave" ? undefined : data)
  )
  port.start()
})
