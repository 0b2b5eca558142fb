import "@xterm/xterm/css/xterm.css"
import { Terminal } from "@xterm/xterm"
import { useEffect, useEffectEvent, useRef } from "react"

import { ignoreHarmfulSequences } from "./harmful-sequences.ts"
import { showInOrder } from "./show-in-order.ts"
import type { TerminalFeed } from "./terminal-feed.ts"

interface TerminalViewProps {
  readonly feed: TerminalFeed
  readonly label: string
  /** Receives what is typed; without it the terminal is read-only. */
  readonly onTyped?: ((text: string) => void) | undefined
  /** On Ctrl+Shift+Enter. The program gets all other keys, also Tab, which would otherwise leave the terminal. */
  readonly onLeave: () => void
}

/** An emulator that shows what a feed tells. */
export const TerminalView = ({ feed, label, onTyped, onLeave }: TerminalViewProps) => {
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<Terminal>(null)
  const type = useEffectEvent((text: string) => onTyped?.(text))
  const leave = useEffectEvent(onLeave)

  useEffect(() => {
    if (place.current === null) return undefined
    const terminal = new Terminal({
      disableStdin: true,
      scrollback: 5000,
      fontSize: 13,
      fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace",
      screenReaderMode: true,
      minimumContrastRatio: 4.5,
      theme: { background: "#14191a", foreground: "#dfe5e2" }
    })
    ignoreHarmfulSequences(terminal)
    shown.current = terminal
    terminal.open(place.current)
    terminal.textarea?.setAttribute("aria-label", label)
    terminal.onData((text) => type(text))
    terminal.attachCustomKeyEventHandler(({ type: moment, key, ctrlKey, shiftKey }) => {
      if (key !== "Enter" || !ctrlKey || !shiftKey) return true
      if (moment === "keydown") leave()
      return false
    })
    const stop = feed(showInOrder(terminal))
    return () => {
      stop()
      terminal.dispose()
    }
  }, [feed, label])

  useEffect(() => {
    const terminal = shown.current
    if (terminal === null) return
    terminal.options.disableStdin = onTyped === undefined
    terminal.options.cursorBlink = onTyped !== undefined
    if (onTyped !== undefined) terminal.focus()
  }, [onTyped])

  return <div className="terminal-place" ref={place} />
}
