import type { WorkspaceApi } from "../api.ts"
import { subscribeToFeed } from "../events/feed.ts"
import { type TerminalEvent, eventsIn } from "./asciicast.ts"

/** Shows the events of a terminal until the returned function is called. */
export type TerminalFeed = (show: (event: TerminalEvent) => void) => () => void

/**
 * An open terminal: the output that the server still has, then what follows. News of more comes by the stream that all
 * tabs share, so that a terminal takes no connection of its own.
 */
export const followTerminal =
  (api: WorkspaceApi, id: string): TerminalFeed =>
  (show) => {
    let isOver = false
    let after = 0
    let isLoading = false
    let isBehind = false
    let size = ""
    const load = async (): Promise<void> => {
      isBehind = true
      if (isLoading) return
      isLoading = true
      while (isBehind) {
        isBehind = false
        // Where it fails the terminal is gone, or the connection is lost and news follows when it is back.
        const page = await api.output(id, after).catch(() => undefined)
        if (page === undefined || isOver) break
        const { cols, rows, bytes } = page
        if (size !== `${cols}x${rows}`) show({ type: "size", cols, rows })
        size = `${cols}x${rows}`
        if (bytes !== "") show({ type: "output", data: Uint8Array.from(atob(bytes), byteOf), isLive: true })
        after = page.after
        isBehind ||= page.hasMore
      }
      isLoading = false
    }
    const unsubscribe = subscribeToFeed((message) => {
      if ("connection" in message) {
        if (message.connection === "live") void load()
      } else if (isNews(message.name) && message.data.workspace === api.workspace) {
        if (message.name === "terminals" || message.data["terminal"] === id) void load()
      }
    })
    void load()
    return () => {
      isOver = true
      unsubscribe()
    }
  }

const isNews = (name: string): boolean => name === "output" || name === "terminals"

const byteOf = (character: string): number => character.charCodeAt(0)

/** A terminal that the server no longer has: its whole recording at once. */
export const replayRecording =
  (api: WorkspaceApi, run: string, recording: string): TerminalFeed =>
  (show) => {
    let isOver = false
    api.artifact(run, recording).then(
      ({ bytes }) => isOver || eventsIn(new TextDecoder().decode(bytes)).forEach(show),
      () => isOver || show({ type: "output", data: "The recording is not there any more." })
    )
    return () => {
      isOver = true
    }
  }
