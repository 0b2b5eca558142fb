import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { CommitToDecide } from "../copy/logged-changes.ts"
import { openCopy } from "../copy/workspace-copy.ts"
import { findPostgres, startPostgres, type TestPostgres } from "../testing.ts"
import { databaseBlobs, sha256Of } from "./blob-store.ts"
import { callRecords } from "./call-records.ts"
import { commitLog } from "./commit-log.ts"
import { type Database, openDatabase } from "./database.ts"
import { migrate, schemaVersion } from "./migrations.ts"
import { stateDocuments } from "./state-documents.ts"

const isThere = findPostgres() !== undefined

describe.skipIf(!isThere)("a commit log (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scope: Scope.Closeable
  let database: Database
  const directories: Array<string> = []
  const scratch = (): string => {
    const made = mkdtempSync(join(tmpdir(), "haft-cluster-"))
    directories.push(made)
    return made
  }
  const run = Effect.runPromise

  beforeAll(async () => {
    postgres = await startPostgres()
    scope = await run(Scope.make())
    database = await run(openDatabase({ url: postgres.url, timeoutMs: 20_000 }).pipe(Scope.provide(scope)))
    await run(migrate(database))
  }, 120_000)
  afterAll(async () => {
    await run(Scope.close(scope, Exit.void))
    await postgres.remove()
    for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  })

  const seeded = (): string => {
    const seed = scratch()
    mkdirSync(join(seed, "src"))
    writeFileSync(join(seed, "src/a.txt"), "one\n")
    writeFileSync(join(seed, "run.sh"), "#!/bin/sh\n", { mode: 0o755 })
    writeFileSync(join(seed, ".env"), "SECRET=1\n")
    return seed
  }
  const member = async (workspace: string, seed: string, owner: string) => {
    const log = commitLog(database, databaseBlobs(database))
    await run(
      database.query("INSERT INTO haft.workspace (name, epoch) VALUES ($1, 0) ON CONFLICT DO NOTHING", [workspace])
    )
    const [row] = await run(
      database.query<{ epoch: string }>(
        "UPDATE haft.workspace SET epoch = epoch + 1, owner = $2 WHERE name = $1 RETURNING epoch",
        [workspace, owner]
      )
    )
    const lost: Array<string> = []
    const copy = await run(
      openCopy({
        ownership: { workspace, epoch: row?.epoch ?? "" },
        log,
        calls: callRecords(database),
        documents: stateDocuments(database, { scope: workspace, cacheMs: 0 }),
        directory: scratch(),
        seed,
        isInForce: () => true,
        onLost: (why) => lost.push(why)
      })
    )
    return { copy, lost }
  }
  const writing = (call: string, path: string, text: string): CommitToDecide => ({
    call,
    changes: [{ path, kind: "modified", what: "file", before: "x", after: "y", bytesWritten: text.length }],
    content: () => [Buffer.from(text)]
  })
  const outcome = (effect: Effect.Effect<void, { readonly code: string }>) =>
    run(Effect.match(effect, { onSuccess: () => "made", onFailure: ({ code }) => code }))

  it("refuses a schema that is newer than this version knows", async () => {
    const url = await postgres.newDatabase()
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const other = yield* openDatabase({ url, timeoutMs: 20_000 })
          yield* migrate(other)
          expect(yield* migrate(other)).toBe(schemaVersion)
          yield* other.query("INSERT INTO haft.migration (version) VALUES ($1)", [schemaVersion + 1])
          const refused = yield* Effect.flip(migrate(other))
          expect(refused.message).toMatch(/schema version \d+, this haft knows/)
        })
      )
    )
  })

  it("imports a workspace once and restores it elsewhere, without secret files", async () => {
    const first = await member("imported", seeded(), "one")
    expect(await outcome(first.copy.decide(writing("r1", "src/a.txt", "two\n")))).toBe("made")
    first.copy.committed()
    const second = await member("imported", "/nowhere", "two")
    expect(readFileSync(join(second.copy.root, "src/a.txt"), "utf8")).toBe("two\n")
    expect(readFileSync(join(second.copy.root, "run.sh"), "utf8")).toBe("#!/bin/sh\n")
    expect(() => readFileSync(join(second.copy.root, ".env"))).toThrow("ENOENT")
    const [row] = await run(
      database.query<{ count: string }>("SELECT count(*) FROM haft.blob WHERE sha256 = $1", [
        sha256Of(Buffer.from("SECRET=1\n"))
      ])
    )
    expect(row?.count).toBe("0")
  })

  it("fences the old owner in the commit itself", async () => {
    const seed = seeded()
    const old = await member("fenced", seed, "old")
    const now = await member("fenced", seed, "now")
    expect(await outcome(old.copy.decide(writing("late", "src/a.txt", "late\n")))).toBe("cluster_unavailable")
    expect(old.lost).toHaveLength(1)
    expect(await outcome(now.copy.decide(writing("r1", "src/a.txt", "new\n")))).toBe("made")
    const rows = await run(database.query("SELECT * FROM haft.commit WHERE workspace = 'fenced'"))
    expect(rows).toMatchObject([{ request_id: "r1", seq: "1" }])
  })

  it("holds a take-over back while a commit is being decided, and never lets both win", async () => {
    const seed = seeded()
    const old = await member("race", seed, "old")
    const writes = Array.from({ length: 40 }, (_, index) => index)
    let epoch = ""
    const results = await Promise.all([
      (async () => {
        const made: Array<string> = []
        for (const index of writes) {
          made.push(await outcome(old.copy.decide(writing(`r${index}`, "src/a.txt", `${index}\n`))))
          old.copy.committed()
        }
        return made
      })(),
      (async () => {
        const [row] = await run(
          database.query<{ epoch: string; seq: string }>(
            "UPDATE haft.workspace SET epoch = epoch + 1, owner = 'now' WHERE name = 'race' RETURNING epoch, seq"
          )
        )
        epoch = row?.epoch ?? ""
        return row?.seq ?? ""
      })()
    ])
    const [made, seqAtTakeover] = results
    const committed = made.filter((one) => one === "made").length
    expect(BigInt(committed)).toBe(BigInt(seqAtTakeover))
    expect(made.slice(committed).every((one) => one === "cluster_unavailable")).toBe(true)
    const rows = await run(database.query<{ epoch: string }>("SELECT epoch FROM haft.commit WHERE workspace = 'race'"))
    expect(rows.every((row) => BigInt(row.epoch) < BigInt(epoch))).toBe(true)
  })

  it("makes a change once, and tells a request that is sent again what became of it", async () => {
    const seed = seeded()
    const first = await member("resent", seed, "one")
    expect(await outcome(first.copy.decide(writing("same", "src/a.txt", "two\n")))).toBe("made")
    first.copy.committed()
    const second = await member("resent", seed, "two")
    expect(await run(second.copy.recall("same"))).toMatchObject({ kind: "committed", paths: ["src/a.txt"] })
    const facts = {
      reads: [],
      writes: [{ path: "src/a.txt", exists: true, isProtected: false }],
      risk: "safe_write"
    } as const
    expect(await outcome(second.copy.ledger.claim({ id: "same", tool: "edit" }, facts))).toBe("already_applied")
    expect(await outcome(second.copy.decide(writing("same", "src/a.txt", "two\n")))).toBe("already_applied")
    await run(second.copy.finish("other", "edit", { wire: 1 }))
    expect(await run(second.copy.recall("other"))).toEqual({ kind: "none" })
  })

  it("returns the stored reply of a call that ended, and unknown_outcome for a command that did not", async () => {
    const seed = seeded()
    const first = await member("commands", seed, "one")
    const runs = { reads: [], writes: [], runs: "make", risk: "dangerous" } as const
    expect(await outcome(first.copy.ledger.claim({ id: "done", tool: "run" }, runs))).toBe("made")
    writeFileSync(join(first.copy.root, "built.txt"), "built\n")
    rmSync(join(first.copy.root, "run.sh"))
    await run(first.copy.finish("done", "run", { wire: { ok: true } }))
    expect(await outcome(first.copy.ledger.claim({ id: "cut", tool: "run" }, runs))).toBe("made")
    const second = await member("commands", seed, "two")
    expect(await run(second.copy.recall("done"))).toEqual({ kind: "replied", reply: { wire: { ok: true } } })
    expect(await run(second.copy.recall("cut"))).toEqual({ kind: "unknown" })
    expect(await outcome(second.copy.ledger.claim({ id: "cut", tool: "run" }, runs))).toBe("unknown_outcome")
    // Changes of the finished command were captured.
    expect(readFileSync(join(second.copy.root, "built.txt"), "utf8")).toBe("built\n")
    expect(() => readFileSync(join(second.copy.root, "run.sh"))).toThrow("ENOENT")
  })

  it("restores moved directories, links, large files and removals from checkpoint and log", async () => {
    const seed = seeded()
    const first = await member("moves", seed, "one")
    const large = Buffer.alloc(200_000, "x")
    const change = { before: "x", after: "y", bytesWritten: 0 } as const
    const all: CommitToDecide = {
      call: "r1",
      changes: [
        { ...change, path: "src/new.txt", kind: "created", what: "file" },
        { ...change, path: "src", kind: "moved", what: "directory", movedTo: "lib" },
        { ...change, path: "lib/large.bin", kind: "created", what: "file" },
        { ...change, path: "link", kind: "created", what: "symlink", contentAfter: Buffer.from("lib/a.txt") },
        { ...change, path: "run.sh", kind: "deleted", what: "file" }
      ],
      content: (path) => (path === "lib/large.bin" ? [large] : [Buffer.from("new\n")])
    }
    expect(await outcome(first.copy.decide(all))).toBe("made")
    const second = await member("moves", seed, "two")
    expect(readFileSync(join(second.copy.root, "lib/a.txt"), "utf8")).toBe("one\n")
    expect(readFileSync(join(second.copy.root, "lib/new.txt"), "utf8")).toBe("new\n")
    expect(readFileSync(join(second.copy.root, "link"), "utf8")).toBe("one\n")
    expect(readFileSync(join(second.copy.root, "lib/large.bin"))).toHaveLength(large.length)
    expect(() => readFileSync(join(second.copy.root, "src/a.txt"))).toThrow("ENOENT")
    expect(() => readFileSync(join(second.copy.root, "run.sh"))).toThrow("ENOENT")
  })

  it("keeps documents under a lock that other members wait for", async () => {
    const one = stateDocuments(database, { scope: "", cacheMs: 0 })
    const other = stateDocuments(database, { scope: "", cacheMs: 0 })
    const add = (files: typeof one) =>
      run(
        files.exclusively(
          "counter",
          Effect.gen(function* () {
            const text = new TextDecoder().decode((yield* files.read("counter")) ?? new Uint8Array())
            yield* files.write("counter", new TextEncoder().encode(`${text}x`))
          })
        )
      )
    await Promise.all(Array.from({ length: 10 }, (_, index) => add(index % 2 === 0 ? one : other)))
    expect(new TextDecoder().decode(await run(one.read("counter")))).toBe("xxxxxxxxxx")
    expect(await run(one.version("counter"))).toBe(await run(other.version("counter")))
  })

  it("refuses changes at once while the database is down, and makes them when it is back", async () => {
    const { copy, lost } = await member("outage", seeded(), "one")
    await postgres.kill()
    expect(await outcome(copy.decide(writing("r1", "src/a.txt", "two\n")))).toBe("cluster_unavailable")
    expect(lost).toEqual([])
    await postgres.start()
    expect(await outcome(copy.decide(writing("r2", "src/a.txt", "two\n")))).toBe("made")
  }, 60_000)
})
