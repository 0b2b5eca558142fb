import { describe, expect, it } from "@effect/vitest"

import { OutputLog } from "./output-log.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array) => new TextDecoder().decode(content)

describe("OutputLog", () => {
  it("can be read again from any cursor", () => {
    const log = new OutputLog(1000)
    log.append(bytes("one "))
    log.append(bytes("two"))
    const whole = {
      text: "one two",
      truncated: false,
      totalBytes: 7,
      omittedBytes: 0,
      totalLines: 1,
      omittedLines: 0,
      cursor: 7
    }
    expect(log.since(0, 1000, false)).toEqual(whole)
    expect(log.since(0, 1000, false)).toEqual(whole)
    expect(log.since(4, 1000, false)).toEqual({ ...whole, text: "two", totalBytes: 3 })
    expect(log.since(7, 1000, false)).toEqual({ ...whole, text: "", totalBytes: 0, totalLines: 0 })
  })

  it("keeps the last bytes when there are too many, and counts the others", () => {
    const log = new OutputLog(5000)
    for (let line = 0; line < 2000; line++) log.append(bytes(`${String(line).padStart(5)}\n`))
    expect([log.start, log.end]).toEqual([7000, 12_000])
    expect(text(log.slice(11_988, 12_000))).toBe(" 1998\n 1999\n")
    const { text: shown, omittedBytes } = log.since(8000, 100_000, false)
    expect([shown.length, omittedBytes]).toEqual([4000, 0])
    log.pin(9000)
    for (let line = 2000; line < 4000; line++) log.append(bytes(`${String(line).padStart(5)}\n`))
    const flooded = log.since(9000, 100_000, false)
    expect(flooded.text.startsWith(" 1500\n 1501\n")).toBe(true)
    expect(flooded.text.endsWith(" 3999\n")).toBe(true)
    expect(flooded).toMatchObject({ truncated: false, omittedBytes: 0, cursor: 24_000 })
  })

  it("keeps the beginning of what follows a pinned cursor through a flood", () => {
    const log = new OutputLog(100_000)
    log.append(bytes("before\n"))
    log.pin(7)
    log.append(bytes("the beginning\n"))
    for (let chunk = 0; chunk < 100; chunk++) log.append(new Uint8Array(10_000).fill(0x2e))
    log.append(bytes("\nthe end"))
    const { text: shown, omittedBytes, truncated, cursor } = log.since(7, 1000, false)
    expect(shown.startsWith("the beginning\n...")).toBe(true)
    expect(shown.endsWith("...\nthe end")).toBe(true)
    expect(shown).toContain(`\n[${omittedBytes} bytes left out]\n`)
    expect([truncated, cursor, omittedBytes]).toEqual([true, 1_000_029, 1_000_022 - 1000])
    expect(log.since(0, 1000, false).text.startsWith("[")).toBe(true)
  })

  it("takes a chunk larger than itself", () => {
    const log = new OutputLog(4096)
    log.append(bytes(`${"x".repeat(10_000)}end`))
    expect([log.start, log.end]).toEqual([10_003 - 4096, 10_003])
    expect(text(log.slice(10_000, 10_003))).toBe("end")
  })

  it("waits for the rest of a character, unless no more will come", () => {
    const log = new OutputLog(1000)
    const [first = 0, second = 0, third = 0] = bytes("€")
    log.append(Uint8Array.of(0x61, first, second))
    expect(log.since(0, 1000, false)).toMatchObject({ text: "a", cursor: 1 })
    expect(log.since(0, 1000, true)).toMatchObject({ text: "a\uFFFD", cursor: 3 })
    log.append(Uint8Array.of(third))
    expect(log.since(1, 1000, false)).toMatchObject({ text: "€", cursor: 4 })
  })

  it("shows bytes that are no text at all without waiting for better ones", () => {
    const log = new OutputLog(1000)
    log.append(Uint8Array.of(0x80, 0x80, 0x80, 0x80))
    expect(log.since(0, 1000, false)).toMatchObject({ text: "\uFFFD".repeat(4), cursor: 4 })
  })

  it("treats a pinned cursor that was discarded as none", () => {
    const log = new OutputLog(4096)
    log.append(new Uint8Array(100_000).fill(0x61))
    log.pin(60_000)
    expect(log.since(60_000, 100_000, false)).toMatchObject({ omittedBytes: 40_000 - 4096, truncated: true })
  })
})
