import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"

import { journalPages } from "./audit-log-pages.ts"

const base = mkdtempSync(join(tmpdir(), "haft-pages-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))
let count = 0
const recordOf = (content: string): string => {
  const file = join(base, `${++count}.jsonl`)
  writeFileSync(file, content)
  return file
}
const line = (seq: number): string => JSON.stringify({ seq, text: "ü".repeat(seq % 7) })
const linesFrom = (first: number, last: number): Array<string> =>
  Array.from({ length: last - first + 1 }, (_, index) => line(first + index))
const textOf = (lines: ReadonlyArray<string>): string => lines.map((one) => `${one}\n`).join("")

describe("the pages of a record", () => {
  it("are the same wherever they begin", async () => {
    const { read, total } = journalPages(recordOf(textOf(linesFrom(1, 1000))))
    expect(await total()).toBe(1000)
    for (const after of [0, 1, 255, 256, 257, 511, 512, 900, 999]) {
      expect(await read(after, 100)).toEqual(linesFrom(after + 1, Math.min(after + 100, 1000)))
    }
    expect(await read(1000, 100)).toEqual([])
    expect(await read(5000, 100)).toEqual([])
    expect(await read(0, 10_000)).toEqual(linesFrom(1, 1000))
  })

  it("grow with it, and leave a line out that is not whole yet", async () => {
    const file = recordOf(textOf(linesFrom(1, 3)))
    const { read, total } = journalPages(file)
    expect(await read(0, 10)).toEqual(linesFrom(1, 3))
    const four = textOf(linesFrom(4, 4))
    appendFileSync(file, four.slice(0, 5))
    expect([await total(), await read(3, 10)]).toEqual([3, []])
    appendFileSync(file, `${four.slice(5)}${textOf(linesFrom(5, 600))}`)
    expect(await total()).toBe(600)
    expect(await read(3, 10)).toEqual(linesFrom(4, 13))
    expect(await read(590, 100)).toEqual(linesFrom(591, 600))
  })

  it("take lines of any length, and end early rather than fill the memory", async () => {
    const long = (letter: string): string => letter.repeat(100_000)
    const lines = [line(1), long("a"), line(3), long("b"), line(5)]
    const { read, total } = journalPages(recordOf(textOf(lines)))
    expect(await total()).toBe(5)
    expect((await read(0, 10)).map(({ length }) => length)).toEqual(lines.slice(0, 3).map(({ length }) => length))
    expect(await read(3, 10)).toEqual(lines.slice(3))
    const longer = [line(1), "c".repeat(3_000_000), line(3)]
    expect(await journalPages(recordOf(textOf(longer))).read(1, 10)).toEqual(longer.slice(1, 2))
  })

  it("are the same wherever they begin where lines are long, too", async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `${index}${"x".repeat(index % 7 === 0 ? 60_000 : 10)}`)
    const { read } = journalPages(recordOf(textOf(lines)))
    for (const after of [0, 1, 6, 7, 8, 20, 21, 139, 140, 141, 398, 399]) {
      expect(await read(after, 4)).toEqual(lines.slice(after, after + 4))
    }
  })

  it("are counted once, however many ask at the same time", async () => {
    const { read, total } = journalPages(recordOf(textOf(linesFrom(1, 40_000))))
    const answers = await Promise.all([total(), read(39_999, 5), total(), read(0, 1)])
    expect(answers).toEqual([40_000, linesFrom(40_000, 40_000), 40_000, linesFrom(1, 1)])
  })
})
