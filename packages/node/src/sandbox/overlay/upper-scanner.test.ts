import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { upperScanner } from "./upper-scanner.ts"

const base = mkdtempSync(join(tmpdir(), "haft-scanner-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const makeUpper = (name: string, files: number) => {
  const upper = join(base, name)
  mkdirSync(upper)
  for (let count = 0; count < files; count++) writeFileSync(join(upper, `${name}-${count}`), "")
  return { upper, lower: base, attributes: "keep" } as const
}

describe.runIf(process.platform === "linux")("the scanner of upper directories", () => {
  it.effect("answers requests one after the other, however large the answers are", () =>
    Effect.gen(function* () {
      const { read } = yield* upperScanner
      const requests = [makeUpper("many", 5000), makeUpper("none", 0), makeUpper("one", 1), makeUpper("some", 300)]
      const found = yield* Effect.forEach(requests, read, { concurrency: "unbounded" })
      expect(found.map(({ entries }) => entries.length)).toEqual([5000, 0, 1, 300])
      expect(found[2]?.entries[0]).toMatchObject({ kind: "file", path: "one-0", links: 1, isOpaque: false })
    })
  )

  it.effect("goes on after a request that was cancelled", () =>
    Effect.gen(function* () {
      const { read } = yield* upperScanner
      const slow = yield* Effect.forkChild(read(makeUpper("slow", 5000)), { startImmediately: true })
      yield* Fiber.interrupt(slow)
      expect((yield* read(makeUpper("next", 2))).entries).toHaveLength(2)
    })
  )

  it.effect("lists a directory that is gone as empty", () =>
    Effect.gen(function* () {
      const { read } = yield* upperScanner
      expect(yield* read({ upper: join(base, "gone"), lower: base, attributes: "keep" })).toEqual({
        entries: [],
        leftOut: [],
        linked: []
      })
    })
  )
})
