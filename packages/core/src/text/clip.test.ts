import { describe, expect, it } from "@effect/vitest"

import { clipText, HeadAndTail } from "./clip.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("clipping", () => {
  it("leaves a text within the budget alone, to the last byte", () => {
    const text = "0123456789"
    expect(clipText(text, 10)).toEqual({
      text,
      truncated: false,
      totalBytes: 10,
      omittedBytes: 0,
      totalLines: 1,
      omittedLines: 0
    })
  })

  it("keeps head and tail around a line that counts what is missing", () => {
    expect(clipText("aaaaa-middle-zzzzz", 10)).toEqual({
      text: "aaaaa\n[8 bytes left out]\nzzzzz",
      truncated: true,
      totalBytes: 18,
      omittedBytes: 8,
      totalLines: 1,
      omittedLines: 0
    })
  })

  it("counts the lines that are missing too", () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `${index}\n`).join("")
    const { text, ...counts } = clipText(lines, 20)
    expect(text).toBe("0\n1\n2\n3\n4\n[3870 bytes left out, 992 lines]\n7\n998\n999\n")
    expect(counts).toEqual({
      truncated: true,
      totalBytes: 3890,
      omittedBytes: 3870,
      totalLines: 1000,
      omittedLines: 992
    })
  })

  it("puts the line between two lines where the head ends with one", () => {
    expect(clipText("aaaa\n-middle-zzzzz", 10).text).toBe("aaaa\n[8 bytes left out]\nzzzzz")
  })

  it("never cuts a character in two", () => {
    for (let limit = 2; limit < 60; limit++) {
      const { text, omittedBytes } = clipText("ä€🙂".repeat(10), limit)
      expect(text).not.toContain("\uFFFD")
      expect(omittedBytes).toBe(90 - bytes(text.replace(/\n?\[\d+ bytes left out\]\n/, "")).length)
    }
  })

  it("keeps the same whether bytes come at once or one by one", () => {
    const text = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join("\n")
    const one = new HeadAndTail(1000)
    for (const byte of bytes(text)) one.push(Uint8Array.of(byte))
    expect(one.finish()).toEqual(clipText(text, 1000))
  })

  it("does not hold on to a buffer that is used again", () => {
    const collector = new HeadAndTail(100)
    const reused = Buffer.from("first")
    collector.push(reused)
    reused.set(bytes("later"))
    expect(collector.finish().text).toBe("first")
  })

  it("leaves bytes that are no text at all to the decoder", () => {
    const collector = new HeadAndTail(8)
    collector.push(new Uint8Array(20).fill(0x80))
    expect(collector.finish()).toMatchObject({ truncated: true, totalBytes: 20, omittedBytes: 12 })
  })
})
it("counts what is gone already and puts the rest after the gap", () => {
  const output = new HeadAndTail(100)
  output.push(bytes("first\n"))
  output.skip(1000)
  output.push(bytes("last\n"))
  expect(output.finish()).toEqual({
    text: "first\n[1000 bytes left out]\nlast\n",
    truncated: true,
    totalBytes: 1011,
    omittedBytes: 1000,
    totalLines: 2,
    omittedLines: 0
  })
})

it("begins with the gap when nothing came before it", () => {
  const output = new HeadAndTail(100)
  output.skip(5)
  output.push(bytes("rest"))
  expect(output.finish().text).toBe("[5 bytes left out]\nrest")
})

it("takes a gap of nothing for no gap", () => {
  const output = new HeadAndTail(100)
  output.push(bytes("a"))
  output.skip(0)
  output.push(bytes("b"))
  expect(output.finish()).toEqual({
    text: "ab",
    truncated: false,
    totalBytes: 2,
    omittedBytes: 0,
    totalLines: 1,
    omittedLines: 0
  })
})
