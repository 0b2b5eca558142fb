import type { Terminal } from "@xterm/xterm"

import type { TerminalEvent } from "./asciicast.ts"

/** Live output that waits for the emulator; of more than that, the oldest is passed over. */
const mostWaiting = 1024 * 1024

/** The emulator gets so many pieces at a time. */
const mostGiven = 64

/** Has a terminal do what it is told in that order, and no faster than it can. */
export const showInOrder = (terminal: Terminal): ((event: TerminalEvent) => void) => {
  let waiting: Array<TerminalEvent> = []
  let live = 0
  let given = 0

  const goOn = (): void => {
    for (let event = waiting[0]; event !== undefined; event = waiting[0]) {
      // A new size holds for what is printed after it.
      if (given >= (event.type === "size" ? 1 : mostGiven)) return
      waiting.shift()
      if (event.type === "size") terminal.resize(event.cols, event.rows)
      else print(event)
    }
  }
  const print = ({ data, isLive }: TerminalEvent & { readonly type: "output" }): void => {
    given++
    if (isLive === true) live -= data.length
    terminal.write(data, () => {
      given--
      if (given === 0) goOn()
    })
  }

  return (event) => {
    waiting.push(event)
    if (event.type === "output" && event.isLive === true) live += event.data.length
    if (live > mostWaiting) {
      waiting = waiting.filter((one) => {
        const isLeftOut = live > mostWaiting && one.type === "output" && one.isLive === true
        if (isLeftOut) live -= one.data.length
        return !isLeftOut
      })
    }
    if (given === 0) goOn()
  }
}
