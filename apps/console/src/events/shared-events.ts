import { type FeedMessage, followEvents } from "./follow-events.ts"

/** Subscription of a tab: its session's headers while it wants events, nothing while it is hidden. */
export interface FeedRequest {
  readonly headers?: Readonly<Record<string, string>>
}

/** One stream of events for several tabs, open as long as one of them wants it. */
export const sharedEvents = () => {
  const tabs = new Map<(message: FeedMessage) => void, FeedRequest>()
  let open: { readonly key: string; readonly end: AbortController } | undefined
  let last: FeedMessage = { connection: "connecting" }
  const follow = (): void => {
    const headers = [...tabs.values()].findLast((wish) => wish.headers !== undefined)?.headers
    const key = JSON.stringify(headers)
    if (open?.key === key) return
    open?.end.abort()
    open = undefined
    last = { connection: "connecting" }
    if (headers === undefined) return
    const end = new AbortController()
    open = { key, end }
    void followEvents(headers, end.signal, (message) => {
      if (end.signal.aborted) return
      if ("connection" in message) last = message
      for (const [tell, wish] of tabs) if (wish.headers !== undefined) tell(message)
    })
  }
  return {
    /** Starts, changes or ends (`undefined`) what a tab wants. A tab that begins is told the state first. */
    ask: (tell: (message: FeedMessage) => void, wish: FeedRequest | undefined): void => {
      if (wish === undefined) tabs.delete(tell)
      else {
        // The latest wish counts: it has the key of the latest session.
        tabs.delete(tell)
        tabs.set(tell, wish)
      }
      follow()
      if (wish?.headers !== undefined) tell(last)
    }
  }
}
