import type { Terminal } from "@xterm/xterm"
import { expect, it } from "vitest"

import { showInOrder } from "./show-in-order.ts"

/** An emulator that finishes a piece of output when the test says so. */
const slowTerminal = () => {
  const done: Array<string> = []
  const pending: Array<() => void> = []
  const terminal = {
    resize: (cols: number, rows: number) => done.push(`${cols}x${rows}`),
    write: (data: string, callback: () => void) =>
      pending.push(() => {
        done.push(data.length > 20 ? String(data.length) : data)
        callback()
      })
  }
  const finish = (): void => {
    while (pending.length > 0) pending.shift()?.()
  }
  return { show: showInOrder(terminal as unknown as Terminal), done, finish }
}

it("resizes between what was printed before and after", () => {
  const { show, done, finish } = slowTerminal()
  show({ type: "size", cols: 80, rows: 24 })
  show({ type: "output", data: "wide" })
  show({ type: "size", cols: 40, rows: 24 })
  show({ type: "output", data: "narrow" })
  finish()
  expect(done).toEqual(["80x24", "wide", "40x24", "narrow"])
})

it("passes over the oldest of live output that comes faster than it can be shown, and nothing of a recording", () => {
  const large = "x".repeat(400_000)
  for (const isLive of [true, false]) {
    const { show, done, finish } = slowTerminal()
    show({ type: "output", data: "first", isLive })
    for (let index = 0; index < 5; index++) show({ type: "output", data: large, isLive })
    show({ type: "size", cols: 40, rows: 24 })
    show({ type: "output", data: "last", isLive })
    finish()
    const shown = done.filter((piece) => piece === "400000")
    expect([done[0], shown.length, ...done.slice(-2)]).toEqual(["first", isLive ? 2 : 5, "40x24", "last"])
  }
})
