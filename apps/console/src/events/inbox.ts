import { useSyncExternalStore } from "react"

import { listApprovals } from "../api.ts"
import { messageOf, type Loaded } from "../hooks/use-load.ts"
import type { ClosedRequest, OpenRequest } from "../wire.ts"
import { subscribeToFeed } from "./feed.ts"
import type { FeedMessage } from "./follow-events.ts"

/** The requests of all workspaces that wait for a person. */
export interface Inbox {
  /** Oldest first. Where loading fails the last known ones stay: a request that could not be loaded has not ended. */
  readonly requests: ReadonlyArray<OpenRequest>
  readonly loaded: Loaded<unknown>
  /** How requests ended that were open before, by id. */
  readonly closed: ReadonlyMap<string, ClosedRequest>
}

/** Ended requests that are remembered, for whoever still looks at one. */
const mostClosed = 500

let inbox: Inbox = { requests: [], loaded: { state: "loading" }, closed: new Map() }
const listeners = new Set<() => void>()

const publish = (next: Inbox): void => {
  inbox = next
  for (const listener of listeners) listener()
}

let latest = 0
let changes = 0

/** Loads all open requests; after that, events say what opened and closed. */
export const reloadInbox = async (): Promise<void> => {
  const round = ++latest
  try {
    const before = changes
    const requests = await listApprovals()
    // Questions that opened or closed while the list was on its way may be missing from it.
    if (round === latest && before !== changes) return await reloadInbox()
    if (round === latest) publish({ ...inbox, requests, loaded: { state: "ready", value: undefined } })
  } catch (error) {
    if (round === latest) publish({ ...inbox, loaded: { state: "failed", message: messageOf(error) } })
  }
}

const apply = (message: FeedMessage): void => {
  if ("connection" in message) {
    // Something may have changed while there was no connection.
    if (message.connection === "live") void reloadInbox()
    return
  }
  if (message.name !== "approvals") return
  changes++
  const { workspace, run, type, id, request, ...closing } = message.data as unknown as ApprovalNews
  const others = inbox.requests.filter((other) => other.id !== id)
  if (type === "opened" && request !== undefined) {
    return publish({ ...inbox, requests: [...others, { ...request, workspace, run }] })
  }
  const closed = new Map([...inbox.closed, [id, closing] as const].slice(-mostClosed))
  publish({ ...inbox, requests: others, closed })
}

interface ApprovalNews extends ClosedRequest {
  readonly workspace: string
  readonly run: string
  readonly type: "opened" | "closed"
  readonly id: string
  readonly request?: OpenRequest
}

/** Follows the requests of all workspaces. */
export const startInbox = (): void => {
  subscribeToFeed(apply)
  void reloadInbox()
}

export const useInbox = (): Inbox =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => inbox
  )
