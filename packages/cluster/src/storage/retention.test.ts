import { existsSync, mkdtempSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { findPostgres, startPostgres, type TestPostgres } from "../testing.ts"
import { databaseBlobs, directoryBlobs, sha256Of } from "./blob-store.ts"
import { callRecords } from "./call-records.ts"
import { commitLog } from "./commit-log.ts"
import { type Database, openDatabase } from "./database.ts"
import type { LoggedChange } from "./manifest.ts"
import { migrate } from "./migrations.ts"
import { prune } from "./retention.ts"

const run = Effect.runPromise

describe.skipIf(findPostgres() === undefined)("retention (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scope: Scope.Closeable
  let database: Database
  let directory: string

  beforeAll(async () => {
    postgres = await startPostgres()
    directory = mkdtempSync(join(tmpdir(), "haft-blobs-"))
    scope = await run(Scope.make())
    database = await run(openDatabase({ url: postgres.url, timeoutMs: 20_000 }).pipe(Scope.provide(scope)))
    await run(migrate(database))
  }, 120_000)
  afterAll(async () => {
    await run(Scope.close(scope, Exit.void))
    await postgres.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  const owned = { workspace: "w", epoch: "1" }
  const file = (path: string, content: Uint8Array): LoggedChange => ({
    path,
    entry: { kind: "file", sha256: sha256Of(content), size: content.length }
  })
  const countIn = async (table: string): Promise<number> =>
    Number((await run(database.query<{ count: string }>(`SELECT count(*) FROM haft.${table}`)))[0]?.count)
  const age = (table: string, column = "at", where = "true") =>
    run(database.query(`UPDATE haft.${table} SET ${column} = ${column} - interval '30 days' WHERE ${where}`))

  it("keeps what a restore needs, and removes the rest once it is old", async () => {
    const log = commitLog(database, directoryBlobs(directory))
    await run(database.query("INSERT INTO haft.workspace (name, epoch) VALUES ('w', 1)"))
    await run(log.checkpoint(owned, { seq: 0n, manifest: new Map() }))
    const [small, kept, large, largeKept] = ["small", "kept", "l".repeat(100_000), "k".repeat(100_000)].map((text) =>
      Buffer.from(text)
    ) as [Buffer, Buffer, Buffer, Buffer]
    const commit = async (requestId: string, content: Buffer, path: string) => {
      const contents = new Map([[sha256Of(content), content]])
      await run(log.store(contents))
      return run(log.append(owned, { requestId, part: 0, changes: [file(path, content)], contents }))
    }
    await commit("r1", small, "a.txt")
    await commit("r2", large, "b.bin")
    await commit("r3", kept, "a.txt")
    await commit("r4", largeKept, "b.bin")
    const before = await run(log.load("w"))
    await run(log.checkpoint(owned, { seq: 3n, manifest: new Map([["a.txt", before.manifest.get("a.txt")!]]) }))
    await run(log.checkpoint(owned, before))
    const calls = callRecords(database)
    await run(calls.claim(owned, "r5", "run_command"))
    await run(calls.finish(owned, { requestId: "r5", tool: "run_command", isOutside: true, reply: { ok: true } }))

    // Nothing is old yet.
    expect(await run(prune(database, { days: 7 }, directory))).toBe(0)
    expect([await countIn("commit"), await countIn("checkpoint"), await countIn("call")]).toEqual([4, 3, 1])

    for (const table of ["commit", "checkpoint", "call"]) await age(table)
    await age("blob", "used")
    const fileOf = (content: Buffer): string => join(directory, sha256Of(content).slice(0, 2), sha256Of(content))
    for (const content of [large, largeKept]) utimesSync(fileOf(content), 0, 0)
    expect(await run(prune(database, { days: 7 }, directory))).toBe(2)
    expect([await countIn("commit"), await countIn("checkpoint"), await countIn("call")]).toEqual([0, 1, 0])
    const after = await run(log.load("w"))
    expect([after.seq, after.sinceCheckpoint, [...after.manifest]]).toEqual([4n, 0, [...before.manifest]])
    expect(Buffer.from(await run(log.content(sha256Of(kept))))).toEqual(kept)
    expect(Buffer.from(await run(log.content(sha256Of(largeKept))))).toEqual(largeKept)
    expect([existsSync(fileOf(large)), existsSync(fileOf(largeKept))]).toEqual([false, true])
    await expect(run(log.content(sha256Of(small)))).rejects.toThrow("lacks content")
    // A request id is remembered as long as its record.
    expect(await run(calls.find("w", "r5"))).toEqual({ kind: "none" })
    expect(await commit("r1", small, "a.txt")).toBe(5n)
  })

  it("leaves a blob that is stored again, however old its first use is", async () => {
    const [inFile, inTable] = [directoryBlobs(directory), databaseBlobs(database)]
    const content = Buffer.from("again".repeat(20_000))
    const sha256 = sha256Of(content)
    for (const store of [inFile, inTable]) await run(store.put(sha256, content))
    utimesSync(join(directory, sha256.slice(0, 2), sha256), 0, 0)
    await age("blob", "used", `sha256 = '${sha256}'`)
    for (const store of [inFile, inTable]) await run(store.put(sha256, content))
    await run(prune(database, {}, directory))
    for (const store of [inFile, inTable]) expect(Buffer.from((await run(store.get(sha256)))!)).toEqual(content)
    expect(await run(inFile.get("0".repeat(64)))).toBeUndefined()
    await expect(run(directoryBlobs(join(directory, sha256.slice(0, 2), sha256)).put(sha256, content))).rejects.toThrow(
      "blob store"
    )
  })

  it("refuses to restore a log with a commit missing", async () => {
    const log = commitLog(database, databaseBlobs(database))
    await run(database.query("INSERT INTO haft.workspace (name, epoch, seq) VALUES ('gap', 1, 1)"))
    await run(log.checkpoint({ workspace: "gap", epoch: "1" }, { seq: 0n, manifest: new Map() }))
    await run(
      log.append({ workspace: "gap", epoch: "1" }, { requestId: "r", part: 0, changes: [], contents: new Map() })
    )
    await expect(run(log.load("gap"))).rejects.toThrow("lacks commit 1 of workspace 'gap'")
  })

  it("settles a commit whose answer was lost under a new epoch, so that it can't arrive later", async () => {
    const log = commitLog(database, databaseBlobs(database))
    await run(database.query("INSERT INTO haft.workspace (name, epoch) VALUES ('settled', 1)"))
    const owner = { workspace: "settled", epoch: "1" }
    const commit = { requestId: "r", part: 0, changes: [], contents: new Map<string, Uint8Array>() }
    expect(await run(log.settle(owner, commit))).toEqual({ epoch: "2", seq: undefined })
    // The statement that was still on its way.
    await expect(run(log.append(owner, commit))).rejects.toThrow("has a new owner")
    expect(await run(log.append({ ...owner, epoch: "2" }, commit))).toBe(1n)
    expect(await run(log.settle({ ...owner, epoch: "2" }, commit))).toEqual({ epoch: "3", seq: 1n })
    await expect(run(log.settle(owner, commit))).rejects.toThrow("has a new owner")
  })
})
