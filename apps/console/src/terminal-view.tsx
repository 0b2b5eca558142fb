import "@xterm/xterm/css/xterm.css"
import { Terminal } from "@xterm/xterm"
import { useEffect, useEffectEvent, useRef } from "react"

import type { WorkspaceApi } from "./api.ts"
import { CastReader } from "./asciicast.ts"

interface TerminalViewProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly recording: string
  readonly label: string
  readonly isRunning: boolean
  /** What to do with what is typed; without it the terminal can only be watched. */
  readonly onTyped?: ((text: string) => void) | undefined
}

const pollMs = 700

/** A terminal as its recording shows it, up to the present while it runs. */
export const TerminalView = ({ api, run, recording, label, isRunning, onTyped }: TerminalViewProps) => {
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<Terminal>(null)
  const type = useEffectEvent((text: string) => onTyped?.(text))

  useEffect(() => {
    if (place.current === null) return undefined
    const terminal = new Terminal({
      disableStdin: true,
      scrollback: 5000,
      fontSize: 13,
      fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace",
      screenReaderMode: true,
      theme: { background: "#14191a", foreground: "#dfe5e2" }
    })
    shown.current = terminal
    terminal.open(place.current)
    terminal.textarea?.setAttribute("aria-label", label)
    terminal.onData((text) => type(text))
    return () => terminal.dispose()
  }, [label])

  useEffect(() => {
    const terminal = shown.current
    if (terminal === null) return undefined
    const reader = new CastReader()
    let position = 0
    let timer = 0
    let isOver = false
    const poll = async (): Promise<void> => {
      const bytes = await api.artifact(run, recording, position).catch(() => new Uint8Array())
      if (isOver) return
      position += bytes.length
      for (const event of reader.read(bytes)) {
        if (event.type === "output") terminal.write(event.text)
        else terminal.resize(event.cols, event.rows)
      }
      if (isRunning) timer = window.setTimeout(() => void poll(), pollMs)
    }
    terminal.reset()
    void poll()
    return () => {
      isOver = true
      window.clearTimeout(timer)
    }
  }, [api, run, recording, isRunning])

  useEffect(() => {
    const terminal = shown.current
    if (terminal === null) return
    terminal.options.disableStdin = onTyped === undefined
    terminal.options.cursorBlink = onTyped !== undefined
    if (onTyped !== undefined) terminal.focus()
  }, [onTyped])

  return <div className="terminal-place" ref={place} />
}
