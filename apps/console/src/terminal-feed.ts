import type { WorkspaceApi } from "./api.ts"
import { type TerminalEvent, eventsIn } from "./asciicast.ts"

/** Tells what a terminal does, until the returned function is called. */
export type TerminalFeed = (show: (event: TerminalEvent) => void) => () => void

/** A terminal that is open, from what is kept of its output on. The browser comes back where a connection ends. */
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

/** A terminal that is gone, as its recording shows it at the end. */
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
