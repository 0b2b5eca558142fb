import { useEffect, useState } from "react"

import { ApiError, type WorkspaceApi } from "../api.ts"
import { applyEvents, type CallLog, emptyLog } from "../calls/call-log.ts"
import type { JournalEvent } from "../wire.ts"

export type Connection = "connecting" | "live" | "lost" | "refused"

/** EventSource reconnects after a lost connection, but gives up when it is refused: then we try again so much later. */
const againMs = 2_000

/** Events are gathered for so long before they are shown, so that a thousand of them cause one render. */
const batchMs = 60

/** How often something changed that is not on record. A new number means: load it again. */
export type News = Readonly<Record<(typeof newsNames)[number], number>>

const newsNames = ["approvals", "terminals"] as const

/** The calls of a workspace as they happen, and whether the connection that tells of them is up. */
export const useEvents = (
  api: WorkspaceApi,
  run: string
): { readonly log: CallLog; readonly connection: Connection; readonly news: News } => {
  const [log, setLog] = useState(emptyLog)
  const [news, setNews] = useState<News>({ approvals: 0, terminals: 0 })
  const [connection, setConnection] = useState<Connection>("connecting")
  const [attempt, setAttempt] = useState(1)

  useEffect(() => {
    const source = new EventSource(api.eventsAddress)
    let arrived: Array<{ readonly run: string; readonly event: JournalEvent }> = []
    let timer = 0
    let again = 0
    const take = (): void => {
      timer = 0
      const batch = Map.groupBy(arrived, (one) => one.run)
      arrived = []
      setLog((before) =>
        [...batch].reduce(
          (taken, [ofRun, events]) =>
            applyEvents(
              taken,
              ofRun,
              events.map(({ event }) => event)
            ),
          before
        )
      )
    }
    const tell = (name: (typeof newsNames)[number]): void =>
      setNews((before) => ({ ...before, [name]: before[name] + 1 }))
    source.addEventListener("open", () => {
      setConnection("live")
      // Something may have changed while there was no connection.
      newsNames.forEach(tell)
    })
    for (const name of newsNames) source.addEventListener(name, () => tell(name))
    source.addEventListener("error", () => {
      setConnection((before) => (before === "refused" ? before : "lost"))
      if (source.readyState === EventSource.CLOSED) again = window.setTimeout(setAttempt, againMs, attempt + 1)
    })
    source.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
      const [ofRun = ""] = lastEventId.split(":")
      arrived.push({ run: ofRun, event: JSON.parse(data) as JournalEvent })
      timer ||= window.setTimeout(take, batchMs)
    })
    // The stream begins with the last thousand events; the record has those before them.
    let isOver = false
    api.lastEvents(run).then(
      (events) => isOver || setLog((before) => applyEvents(before, run, events)),
      (error: unknown) => isOver || (isRefusal(error) && setConnection("refused"))
    )
    return () => {
      isOver = true
      source.close()
      window.clearTimeout(timer)
      window.clearTimeout(again)
    }
  }, [api, run, attempt])

  return { log, connection, news }
}

const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status === 401
