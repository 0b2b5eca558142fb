import { useEffect, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { applyEvents, type CallLog, emptyLog } from "../calls/call-log.ts"
import { subscribeToFeed } from "../events/feed.ts"

/** Events are gathered for so long before they are loaded, so that a thousand of them cause one render. */
const batchMs = 60

/** How often something changed that is not on record. A new number means: load it again. */
export type News = Readonly<Record<(typeof newsNames)[number], number>>

const newsNames = ["terminals"] as const

/** The calls of a workspace as they happen, and news of what is not on record. */
export const useEvents = (
  api: WorkspaceApi,
  workspace: string,
  run: string
): { readonly log: CallLog; readonly news: News } => {
  const [log, setLog] = useState(emptyLog)
  const [news, setNews] = useState<News>({ terminals: 0 })

  useEffect(() => {
    let isOver = false
    let after: number | undefined
    let isLoading = false
    let isBehind = false
    const load = async (): Promise<void> => {
      isBehind = true
      // A workspace of a cluster that no member has open has no run.
      if (isLoading || run === "") return
      isLoading = true
      while (isBehind) {
        isBehind = false
        // Where it fails the connection is lost, and everything is loaded again when it is back.
        const page = await api.events(run, after).catch(() => undefined)
        if (page === undefined || isOver) break
        after = page.after
        setLog((before) => applyEvents(before, run, page.events))
        await new Promise((resolve) => setTimeout(resolve, batchMs))
      }
      isLoading = false
    }
    const tell = (name: string): void => setNews((before) => ({ ...before, [name]: before[name as keyof News] + 1 }))
    const unsubscribe = subscribeToFeed((message) => {
      if ("connection" in message) {
        if (message.connection !== "live") return
        // Something may have changed while there was no connection.
        newsNames.forEach(tell)
        void load()
      } else if (message.data.workspace !== workspace) return
      else if (message.name === "record") void load()
      else if (newsNames.some((name) => name === message.name)) tell(message.name)
    })
    void load()
    return () => {
      isOver = true
      unsubscribe()
    }
  }, [api, workspace, run])

  return { log, news }
}
