import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { StateError, StateFiles, type StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"

import { fileState } from "../index.ts"

const withState = (
  use: (state: StateFilesService, directory: string) => Effect.Effect<void, unknown>
): Effect.Effect<void, unknown> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "haft-state-"))),
    (directory) =>
      Effect.flatMap(StateFiles, (state) => use(state, directory)).pipe(Effect.provide(fileState({ directory }))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array | undefined) =>
  content === undefined ? undefined : new TextDecoder().decode(content)

describe("fileState", () => {
  it.live("reads what was written, and nothing where nothing was", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        expect(yield* state.read("rules.json")).toBe(undefined)
        yield* state.write("cache/one", bytes("1"))
        yield* state.write("cache/one", bytes("2"))
        expect(text(yield* state.read("cache/one"))).toBe("2")
        expect(readdirSync(join(directory, "cache"))).toEqual(["one"])
        expect(statSync(join(directory, "cache/one")).mode & 0o777).toBe(0o600)
        yield* state.remove("cache/one")
        yield* state.remove("cache/one")
        expect(yield* state.read("cache/one")).toBe(undefined)
      })
    )
  )

  it.live("says the version of what it wrote, also where somebody has written something else since", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        const first = yield* state.write("rules.json", bytes("1"))
        expect(yield* state.version("rules.json")).toBe(first)
        const second = yield* state.write("rules.json", bytes("2"))
        expect(second).not.toBe(first)
        writeFileSync(join(directory, "rules.json"), "by hand")
        expect(yield* state.version("rules.json")).not.toBe(second)
      })
    )
  )

  it.live("refuses to read a pipe, a directory or a file over the size limit", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        spawnSync("mkfifo", [join(directory, "pipe")])
        mkdirSync(join(directory, "directory"))
        writeFileSync(join(directory, "large"), "")
        truncateSync(join(directory, "large"), 2 ** 30)
        const problems = []
        for (const name of ["pipe", "directory", "large"]) problems.push((yield* Effect.flip(state.read(name))).message)
        expect(problems).toEqual([
          expect.stringContaining("it is not a file"),
          expect.stringContaining("it is not a file"),
          expect.stringContaining("it has more than 67108864 bytes")
        ])
      })
    )
  )

  it.live("changes the version with every write, by whomever", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        const versions = [yield* state.version("a")]
        yield* state.write("a", bytes("1"))
        versions.push(yield* state.version("a"))
        expect(yield* state.version("a")).toBe(versions[1])
        yield* state.write("a", bytes("2"))
        versions.push(yield* state.version("a"))
        writeFileSync(join(directory, "a"), "33")
        versions.push(yield* state.version("a"))
        expect(new Set(versions).size).toBe(4)
      })
    )
  )

  it.live.each(["../a", "/a", "a/../b", "", "a//b", ".hidden", "a\0b"])("refuses the name %j", (name) =>
    withState((state) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(state.write(name, bytes("1")))
        expect(error).toEqual(new StateError({ name, problem: "is not a name for a document" }))
      })
    )
  )

  it.live("says what is wrong when a document can't be read", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        mkdirSync(join(directory, "a"))
        expect((yield* Effect.flip(state.read("a"))).message).toContain("a can't be used: it is not a file")
        expect((yield* Effect.flip(state.write("a", bytes("1")))).message).toContain("a can't be used")
        expect(readdirSync(directory)).toEqual(["a"])
      })
    )
  )

  it.live("lets one at a time do something exclusive", () =>
    withState((state) =>
      Effect.gen(function* () {
        const add = state.exclusively(
          "count",
          Effect.gen(function* () {
            const before = Number(text(yield* state.read("count")) ?? "0")
            yield* Effect.sleep(1)
            yield* state.write("count", bytes(String(before + 1)))
          })
        )
        yield* Effect.all([add, add, add, add, add], { concurrency: "unbounded" })
        expect(text(yield* state.read("count"))).toBe("5")
      })
    )
  )

  it.live.each(["a process that is gone", "nobody, for a long time"])("takes over a lock held by %s", (holder) =>
    withState((state, directory) =>
      Effect.gen(function* () {
        const lock = join(directory, "a.lock")
        const gone = spawnSync(process.execPath, ["-e", ""]).pid
        writeFileSync(lock, holder.startsWith("nobody") ? "" : `${gone} 1 mark\n`)
        utimesSync(lock, 1, 1)
        expect(yield* state.exclusively("a", Effect.succeed("mine"))).toBe("mine")
        expect(readdirSync(directory)).toEqual([])
      })
    )
  )

  it.live("waits for a lock whose owner lives", () =>
    withState((state, directory) =>
      Effect.gen(function* () {
        const lock = join(directory, "a.lock")
        writeFileSync(lock, `${process.pid}  other\n`)
        const waiting = state.exclusively("a", Effect.succeed("mine"))
        const freed = Effect.andThen(
          Effect.sleep(60),
          Effect.sync(() => rmSync(lock))
        )
        expect(yield* Effect.all([waiting, freed], { concurrency: 2 })).toEqual(["mine", undefined])
      })
    )
  )
})
