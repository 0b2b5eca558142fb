import { expect, it } from "@effect/vitest"

import { Recording } from "./recording.ts"

const header = { cols: 80, rows: 24, startedAt: 1_700_000_000_000, command: "bash", term: "xterm-256color" }

const record = (capBytes: number) => {
  const chunks: Array<Uint8Array> = []
  const writer = { path: "terminals/a.cast", write: (chunk: Uint8Array) => chunks.push(chunk), dropped: () => 0 }
  const recording = new Recording(writer, capBytes, header)
  const lines = () =>
    Buffer.concat(chunks)
      .toString()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown)
  return { recording, lines }
}

it("is an asciicast: a header, then output and window sizes with their times", () => {
  const { recording, lines } = record(10_000)
  recording.output(Buffer.from("hello\r\n"))
  recording.resize({ cols: 100, rows: 40 })
  expect(lines()).toEqual([
    { version: 2, width: 80, height: 24, timestamp: 1_700_000_000, command: "bash", env: { TERM: "xterm-256color" } },
    [expect.any(Number), "o", "hello\r\n"],
    [expect.any(Number), "r", "100x40"]
  ])
  expect(recording.path).toBe("terminals/a.cast")
})

it("never splits a character between two events", () => {
  const { recording, lines } = record(10_000)
  const bytes = Buffer.from("€")
  recording.output(bytes.subarray(0, 1))
  recording.output(bytes.subarray(1))
  expect(lines().slice(1)).toEqual([[expect.any(Number), "o", "€"]])
})

it("ends with a whole line when it is full", () => {
  const { recording, lines } = record(1024)
  for (let count = 0; count < 100; count++) recording.output(Buffer.from("x".repeat(100)))
  recording.resize({ cols: 1, rows: 1 })
  expect(lines().length).toBeGreaterThan(4)
  expect(lines().length).toBeLessThan(10)
})

it("ends when it can't be written any more, and the terminal goes on", () => {
  let writes = 0
  const write = () => {
    if (++writes > 1) throw new Error("no space left on device")
  }
  const recording = new Recording({ path: "a.cast", write, dropped: () => 0 }, 10_000, header)
  recording.output(Buffer.from("one"))
  recording.output(Buffer.from("two"))
  expect(writes).toBe(2)
})
