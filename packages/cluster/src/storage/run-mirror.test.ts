import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { findPostgres, startFaultyProxy, startPostgres, type TestPostgres } from "../testing.ts"
import { type Database, openDatabase } from "./database.ts"
import { migrate } from "./migrations.ts"
import { runMirror } from "./run-mirror.ts"
import { stateDocuments, withLocalPaths } from "./state-documents.ts"

const run = Effect.runPromise

describe.skipIf(findPostgres() === undefined)("documents and audit logs in the database (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let network: Awaited<ReturnType<typeof startFaultyProxy>>
  let scope: Scope.Closeable
  let database: Database
  let scratch: string
  beforeAll(async () => {
    postgres = await startPostgres()
    network = await startFaultyProxy(Number(new URL(postgres.url).port))
    scratch = mkdtempSync(join(tmpdir(), "haft-mirror-"))
    scope = await run(Scope.make())
    const url = postgres.url.replace(/:\d+\//, `:${network.port}/`)
    database = await run(openDatabase({ url, timeoutMs: 5_000 }).pipe(Scope.provide(scope)))
    await run(migrate(database))
  }, 120_000)
  afterAll(async () => {
    await run(Scope.close(scope, Exit.void))
    await network.close()
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  })

  it("carries the runs of a workspace over, byte by byte, and reports the lag", async () => {
    const [first, second] = [join(scratch, "first"), join(scratch, "second")]
    mkdirSync(join(first, "runs/r1/artifacts"), { recursive: true })
    const record = join(first, "runs/r1/events.jsonl")
    writeFileSync(record, `${"a".repeat(600_000)}\n`)
    writeFileSync(join(first, "runs/r1/artifacts/out.txt"), "output")
    writeFileSync(join(first, "runs/r1/huge.bin"), "")
    truncateSync(join(first, "runs/r1/huge.bin"), 17 * 1024 * 1024)
    const mirror = runMirror(database)
    await run(mirror.flush("w", first))
    appendFileSync(record, "second line\n")
    // An event that can't be sent counts as lag until it is.
    network.cut(true)
    await expect(run(mirror.flush("w", first))).rejects.toThrow("can't be reached")
    expect(mirror.lag()).toBe("second line\n".length)
    network.cut(false)
    await expect.poll(() => run(mirror.flush("w", first)).then(() => mirror.lag()), { timeout: 20_000 }).toBe(0)

    await run(runMirror(database).restore("w", second))
    expect(readFileSync(join(second, "runs/r1/events.jsonl"), "utf8")).toBe(readFileSync(record, "utf8"))
    expect(readFileSync(join(second, "runs/r1/artifacts/out.txt"), "utf8")).toBe("output")
    expect(() => readFileSync(join(second, "runs/r1/huge.bin"))).toThrow("ENOENT")
    // The next owner goes on where the first ended, and keeps the runs that it has.
    const next = runMirror(database)
    appendFileSync(join(second, "runs/r1/events.jsonl"), "third line\n")
    await run(next.restore("w", second))
    await run(next.flush("w", second))
    await run(runMirror(database).restore("w", join(scratch, "third")))
    expect(readFileSync(join(scratch, "third/runs/r1/events.jsonl"), "utf8")).toMatch(/second line\nthird line\n$/)
  })

  it("serves documents for a while without the database, and never changes them then", async () => {
    const [patient, strict] = [10_000, 0].map((staleMs) =>
      stateDocuments(database, { scope: "s", cacheMs: 0, staleMs })
    )
    const bytes = (text: string) => new TextEncoder().encode(text)
    const local = withLocalPaths(patient!, { workspace: "s", root: "/copies/here" })
    await run(local.write("rules", bytes('{"cwd":"/copies/here"}')))
    expect(new TextDecoder().decode(await run(strict!.read("rules")))).toBe('{"cwd":"cluster:s"}')
    expect(new TextDecoder().decode(await run(local.read("rules")))).toBe('{"cwd":"/copies/here"}')
    expect(await run(local.read("absent"))).toBeUndefined()
    const version = await run(patient!.version("rules"))
    await run(strict!.version("rules"))
    network.cut(true)
    try {
      expect(await run(patient!.version("rules"))).toBe(version)
      expect(new TextDecoder().decode(await run(patient!.read("rules")))).toBe('{"cwd":"cluster:s"}')
      await expect(run(strict!.version("rules"))).rejects.toThrow("can't be used")
      await expect(run(strict!.read("rules"))).rejects.toThrow("can't be used")
      await expect(run(patient!.write("rules", bytes("{}")))).rejects.toThrow("can't be used")
    } finally {
      network.cut(false)
    }
    await expect.poll(() => run(strict!.version("rules")).catch(() => ""), { timeout: 20_000 }).toBe(version)
    await run(patient!.remove("rules"))
    expect(await run(strict!.read("rules"))).toBeUndefined()
  })

  it("listens for notifications again after the connection was lost", async () => {
    let notified = 0
    const listening = await run(Scope.make())
    await run(database.listen("test_channel", () => void notified++).pipe(Scope.provide(listening)))
    const notify = () => run(database.query("SELECT pg_notify('test_channel', '')")).catch(() => undefined)
    const heard = async () => {
      const before = notified
      await notify()
      await new Promise((resolve) => setTimeout(resolve, 50))
      return notified > before
    }
    await expect.poll(heard, { timeout: 20_000 }).toBe(true)
    network.cut(true)
    network.cut(false)
    await expect.poll(heard, { timeout: 20_000 }).toBe(true)
    await run(Scope.close(listening, Exit.void))
  })
})
