import { useSyncExternalStore } from "react"

import { onSessionChange, sessionHeaders } from "../session/session-key.ts"
import type { Connection, FeedMessage } from "./follow-events.ts"
import { type FeedRequest, sharedEvents } from "./shared-events.ts"

let connection: Connection = "connecting"
const listeners = new Set<(message: FeedMessage) => void>()

/** Calls back with every event of every workspace, and whenever the connection changes. */
export const subscribeToFeed = (listener: (message: FeedMessage) => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const connectionNow = (): Connection => connection

export const useConnection = (): Connection => useSyncExternalStore(subscribeToFeed, connectionNow)

/** Connects this tab to the stream that all tabs share. A hidden tab wants it only for notifications. */
export const startFeed = (): void => {
  const tell = (message: FeedMessage): void => {
    if ("connection" in message) connection = message.connection
    for (const listener of listeners) listener(message)
  }
  const send = senderTo(tell)
  const ask = (): void => {
    const isWanted = !document.hidden || ("Notification" in window && Notification.permission === "granted")
    if (!isWanted) tell({ connection: "connecting" })
    send(isWanted ? { headers: sessionHeaders() } : {})
  }
  document.addEventListener("visibilitychange", ask)
  window.addEventListener("pageshow", ask)
  window.addEventListener("pagehide", () => send("leave"))
  onSessionChange(ask)
  askAgain = ask
  ask()
}

/** Connects again with the session as it is now. */
export let askAgain = (): void => {}

/** The worker that all tabs share; a browser without shared workers has a stream for each visible tab. */
const senderTo = (tell: (message: FeedMessage) => void): ((request: FeedRequest | "leave") => void) => {
  if (!("SharedWorker" in window)) {
    const events = sharedEvents()
    return (request) => events.ask(tell, request === "leave" ? undefined : request)
  }
  const { port } = new SharedWorker(new URL("event-worker.ts", import.meta.url), {
    type: "module",
    name: "haft-events"
  })
  port.addEventListener("message", ({ data }: MessageEvent<FeedMessage>) => tell(data))
  port.start()
  return (request) => port.postMessage(request)
}
