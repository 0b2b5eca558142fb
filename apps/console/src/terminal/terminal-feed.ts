import type { WorkspaceApi } from "../api.ts"
import { type TerminalEvent, eventsIn } from "./asciicast.ts"

/** Shows the events of a terminal until the returned function is called. */
export type TerminalFeed = (show: (event: TerminalEvent) => void) => () => void

/** An open terminal: the output that the server still has, then what follows. EventSource reconnects by itself. */
export const followTerminal =
  (api: WorkspaceApi, id: string): TerminalFeed =>
  (show) => {
    const source = new EventSource(api.outputAddress(id))
    source.addEventListener("size", ({ data }: MessageEvent<string>) => {
      const { cols, rows } = JSON.parse(data) as { readonly cols: number; readonly rows: number }
      show({ type: "size", cols, rows })
    })
    source.addEventListener("output", ({ data }: MessageEvent<string>) => {
      const { bytes } = JSON.parse(data) as { readonly bytes: string }
      show({ type: "output", data: Uint8Array.from(atob(bytes), (byte) => byte.charCodeAt(0)), isLive: true })
    })
    source.addEventListener("end", () => source.close())
    return () => source.close()
  }

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
