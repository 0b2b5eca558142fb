import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { memoryWorkspace, refuseHunks, Workspace } from "../index.ts"

const lines = (count: number, change: (line: number) => string = () => "") =>
  Array.from({ length: count }, (_, index) => `${change(index + 1) || `line ${index + 1}`}\n`).join("")
const encode = (text: string) => new TextEncoder().encode(text)

const withFiles = (files: Readonly<Record<string, string>>) =>
  memoryWorkspace(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, encode(text)])))

describe("refuseHunks", () => {
  const changed = (line: number) => (line === 2 || line === 20 || line === 39 ? `changed ${line}` : "")

  for (const refused of [[1], [2], [3], [1, 3], [1, 2, 3]]) {
    it.effect(`commits all hunks of a file but ${refused.join(", ")}`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace
        const plan = yield* workspace.plan
        yield* plan.write("a.txt", encode(lines(40, changed)))
        yield* refuseHunks(
          plan,
          refused.map((hunk) => ({ path: "a.txt", hunk }))
        )
        yield* plan.commit()
        const kept = [2, 20, 39].filter((_, index) => !refused.includes(index + 1))
        const expected = lines(40, (line) => (kept.includes(line) ? `changed ${line}` : ""))
        expect(new TextDecoder().decode(yield* workspace.read("a.txt"))).toBe(expected)
      }).pipe(Effect.provide(withFiles({ "a.txt": lines(40) })))
    )
  }

  it.effect("keeps 200,000 lines around the hunks of a file", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const plan = yield* workspace.plan
      const ends = (line: number) => (line === 1 || line === 200_000 ? "changed" : "")
      yield* plan.write("a.txt", encode(lines(200_000, ends)))
      yield* refuseHunks(plan, [{ path: "a.txt", hunk: 1 }])
      yield* plan.commit()
      const expected = lines(200_000, (line) => (line === 200_000 ? "changed" : ""))
      expect(new TextDecoder().decode(yield* workspace.read("a.txt")) === expected).toBe(true)
    }).pipe(Effect.provide(withFiles({ "a.txt": lines(200_000) })))
  )

  it.effect("makes no file that is refused, and removes none", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const plan = yield* workspace.plan
      yield* plan.write("new.txt", encode("new\n"))
      yield* plan.remove("old.txt")
      yield* plan.write("a.txt", encode("A\n"))
      yield* refuseHunks(plan, [
        { path: "new.txt", hunk: 1 },
        { path: "old.txt", hunk: 1 }
      ])
      yield* plan.commit()
      expect(new TextDecoder().decode(yield* workspace.read("old.txt"))).toBe("old\n")
      expect(new TextDecoder().decode(yield* workspace.read("a.txt"))).toBe("A\n")
      expect((yield* Effect.flip(workspace.read("new.txt"))).code).toBe("file_not_found")
    }).pipe(Effect.provide(withFiles({ "a.txt": "a\n", "old.txt": "old\n" })))
  )

  it.effect("refuses hunks that are not there, and files that are not text", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const plan = yield* workspace.plan
      yield* plan.write("a.txt", encode("A\n"))
      yield* plan.write("b.bin", Uint8Array.of(0, 1, 2))
      for (const wrong of [
        { path: "a.txt", hunk: 2 },
        { path: "missing.txt", hunk: 1 },
        { path: "b.bin", hunk: 1 }
      ]) {
        expect((yield* Effect.flip(refuseHunks(plan, [wrong]))).code).toBe("approval_denied")
      }
    }).pipe(Effect.provide(withFiles({ "a.txt": "a\n" })))
  )
})
