import { useEffect, useEffectEvent } from "react"

export type Shortcuts = Readonly<Record<string, () => void>>

/** Single keys that do something, wherever no text is being typed. A key that is held down counts once. */
export const useShortcuts = (shortcuts: Shortcuts, isOn: boolean): void => {
  const press = useEffectEvent((event: KeyboardEvent): void => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const action = Object.hasOwn(shortcuts, event.key) ? shortcuts[event.key] : undefined
    if (action === undefined) return
    event.preventDefault()
    action()
  })
  useEffect(() => {
    if (!isOn) return undefined
    const listener = (event: KeyboardEvent): void => press(event)
    document.addEventListener("keydown", listener)
    return () => document.removeEventListener("keydown", listener)
  }, [isOn])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable], dialog, .xterm") !== null
