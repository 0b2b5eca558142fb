import { describe, expect, it } from "@effect/vitest"
import { OutputLog } from "@haft/core"

import { Screen } from "./screen.ts"

const screenOf = (limitBytes = 1_000_000) => {
  const log = new OutputLog(limitBytes)
  const answers: Array<string> = []
  const screen = new Screen(log, { cols: 20, rows: 4 }, (text) => answers.push(text))
  const print = (text: string) => {
    const chunk = Buffer.from(text)
    screen.beforeOutput(chunk)
    log.append(chunk)
    screen.afterOutput(chunk)
  }
  return { screen, print, answers, log }
}

describe("the screen", () => {
  it("shows what is left when escape sequences have done their work", async () => {
    const { screen, print } = screenOf()
    print("10 %\r50 %\r100 %\r\n\u001B[31mred\u001B[0m and \u001B[1mbold\u001B[0m")
    expect(await screen.view()).toEqual({ text: "100 %\nred and bold", cursorRow: 2, cursorColumn: 13 })
  })

  it("leaves out the blanks that a full-screen program writes to the end of each row", async () => {
    const { screen, print } = screenOf()
    for (const row of ["a  b", "", "  c"]) print(row.padEnd(20))
    print("\u001B[44m \u001B[0m\u001B[3;20H")
    expect((await screen.view()).text).toBe("a  b\n\n  c")
  })

  it("scrolls, and keeps only what fits", async () => {
    const { screen, print } = screenOf()
    for (let line = 1; line <= 10; line++) print(`line ${line}\r\n`)
    expect((await screen.view()).text).toBe("line 8\nline 9\nline 10")
  })

  it("follows a resize at the place where it happened", async () => {
    const { screen, print } = screenOf()
    print("a".repeat(25))
    screen.resize({ cols: 40, rows: 10 })
    print(`\r\n${"b".repeat(25)}`)
    expect((await screen.view()).text).toBe(`${"a".repeat(20)}\naaaaa\n${"b".repeat(25)}`)
  })

  it("knows the modes that were set in output it never saw", async () => {
    const { screen, print, log } = screenOf(4096)
    print("\u001B[?1h\u001B[?2004h")
    for (let line = 0; line < 500; line++) print(`line ${line}\r\n`)
    expect(log.start).toBeGreaterThan(100)
    expect(await screen.modes()).toEqual({ applicationCursorKeys: true })
    expect((await screen.view()).text).toBe("line 497\nline 498\nline 499")
  })

  it("answers a program that asks where the cursor is, once", async () => {
    const { screen, print, answers } = screenOf()
    print("ab\u001B[6n")
    await screen.view()
    await screen.view()
    expect(answers).toEqual(["\u001B[1;3R"])
  })

  it("answers a question that comes in pieces", async () => {
    const { screen, print, answers } = screenOf()
    for (const piece of ["ab\u001B", "[", "6", "n", "\u001B[?7", "$p", "\u001B[3", "1mred"]) print(piece)
    await screen.view()
    expect(answers).toEqual(["\u001B[1;3R", "\u001B[?7;1$y"])
  })

  it("does not answer a query when its view is read later", async () => {
    const { screen, print, answers } = screenOf()
    print('\u001BP$q"p\u001B\\')
    await screen.view()
    expect(answers).toEqual([])
    screen.dispose()
  })

  it.each(["I", "Z", "b", "L", "M", "S", "T"])(
    "is not held up by an order to do something for ever: %s",
    async (order) => {
      const { screen, print } = screenOf()
      print(`before${`\u001B[2147483647${order}`.repeat(100)}\r\nafter`)
      expect((await screen.view()).text).toBe("before\nafter")
    }
  )

  it("yields to the event loop while it parses output", async () => {
    const { screen, print } = screenOf()
    print("\u001B[4L\u001B[4M".repeat(50_000))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await screen.view()
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })
})
