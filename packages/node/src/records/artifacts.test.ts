import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { artifactAddress, type ArtifactInfo, Artifacts, CurrentCall } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { afterAll, describe, expect, it } from "vitest"

import { type FileArtifactsOptions, fileArtifacts } from "./artifacts.ts"
import { fileJournal } from "./audit-log.ts"

const base = mkdtempSync(join(tmpdir(), "haft-artifacts-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))
let count = 0
const newDirectory = () => join(base, `s${++count}`)

type Service = typeof Artifacts.Service

const withArtifacts = <A, E>(
  options: FileArtifactsOptions,
  use: (artifacts: Service) => Effect.Effect<A, E, Scope.Scope>,
  run = "r"
): Promise<A> =>
  Effect.runPromise(
    Artifacts.use((artifacts) => Effect.scoped(use(artifacts))).pipe(
      Effect.provide(
        fileArtifacts({ capBytes: 100, ...options }).pipe(
          Layer.provide(fileJournal({ directory: options.directory, run }))
        )
      )
    )
  )

const as =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentCall, (call) =>
      Effect.provideService(effect, CurrentCall, { ...call, caller: { name, role: "agent" } })
    )

const textOf = Effect.fnUntraced(function* (artifacts: Service, path: string, run = "r") {
  const { files, path: opened } = yield* artifacts.open(artifactAddress(run, path))
  return Buffer.from(yield* files.read(opened)).toString()
})

const codeOf = <A, R>(effect: Effect.Effect<A, { readonly code: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

const namesOf = (list: ReadonlyArray<ArtifactInfo>) => list.map(({ address }) => address)

describe("artifacts", () => {
  it("are files of the run, replaced when saved again, and no larger than allowed", async () => {
    const directory = newDirectory()
    const read = await withArtifacts(
      { directory },
      Effect.fnUntraced(function* (artifacts) {
        expect(yield* artifacts.save("diffs/step_0001.patch", "first, and longer")).toBe("diffs/step_0001.patch")
        yield* artifacts.save("diffs/step_0001.patch", "second")
        yield* artifacts.save("big", "x".repeat(200))
        return yield* textOf(artifacts, "diffs/step_0001.patch")
      })
    )
    expect(read).toBe("second")
    expect(readFileSync(join(directory, "runs/r/diffs/step_0001.patch"), "utf8")).toBe("second")
    expect(readFileSync(join(directory, "runs/r/big"), "utf8")).toBe("x".repeat(100))
  })

  it("grow piece by piece up to their cap, and say what did not fit", async () => {
    const directory = newDirectory()
    const dropped = await withArtifacts(
      { directory },
      Effect.fnUntraced(function* (artifacts) {
        const writer = yield* artifacts.create("logs/tool_step_0005_stdout.txt", { capBytes: 5 })
        for (const piece of ["abc", "def", "ghi"]) writer.write(Buffer.from(piece))
        return writer.dropped()
      })
    )
    expect(dropped).toBe(4)
    expect(readFileSync(join(directory, "runs/r/logs/tool_step_0005_stdout.txt"), "utf8")).toBe("abcde")
  })

  it("stay below their run and away from the record", async () => {
    const directory = newDirectory()
    const records = ["events.jsonl", "session.log", "artifact-owners.jsonl"]
    await withArtifacts(
      { directory },
      Effect.fnUntraced(function* (artifacts) {
        for (const path of ["../x", "/etc/x", "a//b", ".hidden", "a/../b", "", "a\0b", ...records]) {
          expect(yield* codeOf(artifacts.save(path, ""))).toBe("write_failed")
          expect(yield* codeOf(artifacts.open(artifactAddress("r", path)))).toBe("file_not_found")
        }
        for (const address of ["artifact:r/none", "artifact:../r/none", "artifact:other/none", "artifact:", "none"]) {
          expect(yield* codeOf(artifacts.open(address))).toBe("file_not_found")
        }
        mkdirSync(join(directory, "runs/r/contents"), { recursive: true })
        writeFileSync(join(directory, "runs/r/contents/abc"), "reply of somebody")
        expect(yield* codeOf(artifacts.open("artifact:r/contents/abc"))).toBe("file_not_found")
      })
    )
  })

  it("belong to the caller who made them, in this run and in later ones", async () => {
    const directory = newDirectory()
    await withArtifacts(
      { directory },
      Effect.fnUntraced(function* (artifacts) {
        yield* as("one")(artifacts.save("logs/a", "of one"))
        yield* artifacts.save("logs/b", "of nobody")
        expect(yield* as("one")(textOf(artifacts, "logs/a"))).toBe("of one")
        expect(yield* textOf(artifacts, "logs/b")).toBe("of nobody")
        expect(yield* as("two")(codeOf(artifacts.open("artifact:r/logs/a")))).toBe("file_not_found")
        expect(yield* codeOf(artifacts.open("artifact:r/logs/a"))).toBe("file_not_found")
        expect(yield* as("one")(codeOf(artifacts.open("artifact:r/logs/b")))).toBe("file_not_found")
        expect(namesOf(yield* as("one")(artifacts.list))).toEqual(["artifact:r/logs/a"])
        expect(namesOf(yield* as("two")(artifacts.list))).toEqual([])
        expect(namesOf(yield* artifacts.list)).toEqual(["artifact:r/logs/b"])
      })
    )
    await withArtifacts(
      { directory },
      Effect.fnUntraced(function* (artifacts) {
        expect(yield* as("one")(textOf(artifacts, "logs/a"))).toBe("of one")
        expect(yield* codeOf(artifacts.open("artifact:r/logs/a"))).toBe("file_not_found")
        writeFileSync(join(directory, "runs/r/artifact-owners.jsonl"), "damaged")
        expect(yield* codeOf(artifacts.open("artifact:r/logs/b"))).toBe("file_not_found")
      }),
      "later"
    )
  })

  it("of a run hold no more than its limit: the oldest go first", async () => {
    const directory = newDirectory()
    const list = await withArtifacts(
      { directory, runBytes: 120 },
      Effect.fnUntraced(function* (artifacts) {
        for (const name of ["a", "b", "c"]) yield* artifacts.save(`logs/${name}`, name.repeat(50))
        expect(yield* codeOf(artifacts.open("artifact:r/logs/a"))).toBe("file_not_found")
        return yield* artifacts.list
      })
    )
    expect(list).toMatchObject([
      { address: "artifact:r/logs/c", bytes: 50 },
      { address: "artifact:r/logs/b", bytes: 50 }
    ])
    expect(readdirSync(join(directory, "runs/r/logs"))).toEqual(["b", "c"])
  })

  it("expire with their run's age, but not diffs and the audit log", async () => {
    const directory = newDirectory()
    const put = (path: string) => {
      mkdirSync(dirname(join(directory, "runs", path)), { recursive: true })
      writeFileSync(join(directory, "runs", path), "x")
    }
    const recent = new Date().toISOString().replaceAll(/[-:.Z]/g, "")
    const kept = [
      "20200101T000000000-a/diffs/a",
      "20200101T000000000-a/events.jsonl",
      `${recent}-b/logs/a`,
      "named/logs/a"
    ]
    const expired = ["logs/a", "replies/a", "processes/a", "terminals/a"].map((path) => `20200101T000000000-a/${path}`)
    for (const path of [...kept, ...expired]) put(path)
    await withArtifacts({ directory, keepDays: 1 }, (artifacts) => artifacts.save("logs/new", "x"))
    for (const path of kept) expect([path, existsSync(join(directory, "runs", path))]).toEqual([path, true])
    for (const path of expired) expect([path, existsSync(join(directory, "runs", path))]).toEqual([path, false])
  })
})
