import type { Terminal } from "@xterm/xterm"

import type { TerminalEvent } from "./asciicast.ts"

/** How many bytes of live output may wait for the emulator; beyond that the oldest are dropped. */
const mostWaiting = 1024 * 1024

/** How many pieces of output the emulator is given before it has finished the first. */
const mostGiven = 64

/** Passes events on to the emulator in order, and no faster than it can draw. */
export const showInOrder = (terminal: Terminal): ((event: TerminalEvent) => void) => {
  let waiting: Array<TerminalEvent> = []
  let live = 0
  let given = 0

  const goOn = (): void => {
    for (let event = waiting[0]; event !== undefined; event = waiting[0]) {
      // A resize waits until the output before it is drawn, which belongs to the old size.
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
