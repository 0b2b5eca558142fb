import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"

import type { CommitToDecide } from "../copy/logged-changes.ts"
import type { WorkspaceCopy } from "../copy/workspace-copy.ts"
import { findPostgres, freePort, readLog, startFaultyProxy, startPostgres, type TestPostgres } from "../testing.ts"
import { joinCluster, type MemberOptions } from "./member.ts"
import type { MemberEvent } from "./owned-workspaces.ts"

const run = Effect.runPromise
const leaseMs = 2_000
/** No wait in a cluster is longer than this, whatever fails. */
const longestWaitMs = 20_000

describe.skipIf(findPostgres() === undefined)("members of a cluster (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scratch: string
  beforeAll(async () => {
    postgres = await startPostgres()
    scratch = mkdtempSync(join(tmpdir(), "haft-members-"))
    mkdirSync(join(scratch, "seed"))
    writeFileSync(join(scratch, "seed/a.txt"), "one\n")
    writeFileSync(join(scratch, "seed/.env"), "SECRET=1\n")
  }, 120_000)
  afterAll(async () => {
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  })

  /** A member with its own, faulty network to the database. */
  const startMember = async (database: string, more: Partial<MemberOptions<WorkspaceCopy>> = {}) => {
    const network = await startFaultyProxy(Number(new URL(database).port))
    const address = `127.0.0.1:${await freePort()}`
    const events: Array<MemberEvent> = []
    const scope = await run(Scope.make())
    const seed = join(scratch, "seed")
    const member = await run(
      joinCluster<WorkspaceCopy>({
        database: database.replace(/:\d+\//, `:${network.port}/`),
        address,
        url: `http://${address}`,
        version: "0.0.0",
        directory: mkdtempSync(join(scratch, "copies-")),
        workspaces: { default: { seed }, other: { seed } },
        leaseMs,
        open: (copy) => Effect.succeed({ value: copy, close: () => Effect.void, isIdle: () => true }),
        onEvent: (event) => events.push(event),
        ...more
      }).pipe(Scope.provide(scope))
    )
    const stop = (): Promise<void> => run(Scope.close(scope, Exit.void))
    onTestFinished(async () => {
      network.cut(true)
      await stop()
      await network.close()
    })
    return { member, address, network, events, stop }
  }
  type Started = Awaited<ReturnType<typeof startMember>>

  const write = (copy: WorkspaceCopy, call: string, text: string) => {
    const commit: CommitToDecide = {
      call,
      changes: [{ path: "a.txt", kind: "modified", what: "file", before: "x", after: "y", bytesWritten: text.length }],
      content: () => [Buffer.from(text)]
    }
    return run(
      Effect.match(copy.decide(commit), {
        onSuccess: () => {
          writeFileSync(join(copy.root, "a.txt"), text)
          copy.committed()
          return "made"
        },
        onFailure: ({ code }) => code
      })
    )
  }
  const openAt = async ({ member }: Started, workspace = "default"): Promise<WorkspaceCopy> => {
    const route = await run(member.route(workspace))
    if (route.kind !== "here") throw new Error(`the owner is ${route.address}`)
    return route.value
  }
  const limited = async <A>(work: Promise<A>): Promise<A> => {
    const began = performance.now()
    const result = await work
    expect(performance.now() - began).toBeLessThan(longestWaitMs)
    return result
  }

  it("place a workspace at one of them, and move, drain and release it", async () => {
    const database = await postgres.newDatabase()
    const [one, other] = [await startMember(database), await startMember(database, { idleMs: 0 })]
    const routes = await Promise.all([one, other].map(({ member }) => run(member.route("default"))))
    const owner = routes[0]?.kind === "here" ? one : other
    const next = owner === one ? other : one
    expect(await run(owner.member.peers)).toEqual([next.address])
    expect(await run(next.member.serve("default"))).toBeUndefined()
    expect((await run(owner.member.serve("default")))?.workspace).toBe("default")
    expect([...owner.member.open().keys()]).toEqual(["default"])
    await expect(run(one.member.route("unknown"))).rejects.toThrow("no member is configured for workspace 'unknown'")

    expect(await write(await openAt(owner), "r1", "two\n")).toBe("made")
    expect(await run(owner.member.move("default", "127.0.0.1:1"))).toBe(false)
    expect(await run(owner.member.move("default", one.address))).toBe(true)
    const ownerNow = async () => (await readLog(database, "default")).owner
    await expect.poll(ownerNow, { timeout: 20_000 }).toBe(one.address)
    expect(readFileSync(join((await openAt(one)).root, "a.txt"), "utf8")).toBe("two\n")
    const { workspaces } = await run(one.member.status)
    expect(workspaces).toMatchObject([{ name: "default", owner: one.address, commits: "1", notCarried: [".env"] }])

    expect(await run(other.member.drainMember(one.address))).toBe(true)
    await expect.poll(ownerNow, { timeout: 20_000 }).not.toBe(one.address)
    // The other closes what nobody uses, and the next request opens it again.
    await expect.poll(ownerNow, { timeout: 20_000 }).toBeUndefined()
    expect((await run(one.member.route("default"))).kind).toBe("there")
    await other.stop()
    expect((await run(one.member.status)).members.map(({ state }) => state).toSorted()).toEqual(["draining", "left"])
  })

  it("take over the workspaces of a member that is cut off, and fence it", async () => {
    const database = await postgres.newDatabase()
    const one = await startMember(database)
    const copy = await openAt(one)
    const other = await startMember(database)
    expect(await write(copy, "r1", "two\n")).toBe("made")
    one.network.drop(true)
    expect(await limited(write(copy, "late", "late\n"))).toMatch(/^(?:cluster_unavailable|unknown_outcome)$/)
    await expect.poll(async () => (await run(other.member.route("default"))).kind, { timeout: 20_000 }).toBe("here")
    expect(await write(await openAt(other), "r2", "three\n")).toBe("made")
    // Its lease has ended: the member that is cut off serves nothing, and says so at once.
    expect(one.member.isInForce()).toBe(false)
    await expect(limited(run(one.member.route("default")))).rejects.toThrow("lost touch")
    await expect(run(one.member.serve("default"))).rejects.toThrow("lost touch")
    expect(one.events).toContainEqual(expect.objectContaining({ type: "database", isReachable: false }))
    one.network.drop(false)
    await expect.poll(() => one.member.isInForce(), { timeout: 20_000 }).toBe(true)
    expect(await limited(write(copy, "later", "later\n"))).toBe("cluster_unavailable")
    await expect.poll(async () => (await run(one.member.route("default"))).kind, { timeout: 20_000 }).toBe("there")
    const { commits } = await readLog(database, "default")
    expect(commits.map(({ requestId }) => requestId)).toEqual(["r1", "r2"])
    expect(one.events).toContainEqual({ type: "database", isReachable: true })
  })

  it("answer within a limit while the database is slow, and go on when it is not", async () => {
    const database = await postgres.newDatabase()
    const one = await startMember(database, { leaseMs: 4_000 })
    const copy = await openAt(one)
    one.network.delay(100)
    expect(await limited(write(copy, "slow", "slow\n"))).toBe("made")
    // Slower than a statement may be: refused or unknown, never made without saying so, and no wait without end.
    one.network.delay(60_000)
    expect(await limited(write(copy, "stuck", "stuck\n"))).toMatch(/^(?:cluster_unavailable|unknown_outcome)$/)
    one.network.delay(0)
    one.network.cut(true)
    one.network.cut(false)
    const again = async () => {
      const route = await run(one.member.route("default", { waitMs: 100 })).catch(() => undefined)
      return route?.kind === "here" ? write(route.value, `again-${performance.now()}`, "again\n") : "unavailable"
    }
    await expect.poll(again, { timeout: 30_000, interval: 200 }).toBe("made")
    const { commits } = await readLog(database, "default")
    expect(commits.filter(({ requestId }) => requestId === "stuck")).toEqual([])
  })

  it("go on with the standby after a failover, with every commit that was answered", async () => {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    // Setting up the standby takes longer than a short lease on a busy machine.
    const one = await startMember(primary.url, { leaseMs: 6_000 })
    const copy = await openAt(one)
    const standby = await primary.startStandby()
    onTestFinished(standby.remove)
    for (const index of [1, 2, 3]) expect(await write(copy, `before-${index}`, `${index}\n`)).toBe("made")
    await primary.kill()
    expect(await limited(write(copy, "during", "during\n"))).toMatch(/^(?:cluster_unavailable|unknown_outcome)$/)
    await standby.promote()
    one.network.redirect(standby.port)
    let count = 0
    const again = async () => {
      const route = await run(one.member.route("default", { waitMs: 100 })).catch(() => undefined)
      return route?.kind === "here" ? write(route.value, `after-${count++}`, "after\n") : "unavailable"
    }
    await expect.poll(again, { timeout: 30_000, interval: 200 }).toBe("made")
    const { commits } = await readLog(primary.url.replace(/:\d+\//, `:${standby.port}/`), "default")
    expect(commits.map(({ requestId }) => requestId)).toEqual(
      expect.arrayContaining(["before-1", "before-2", "before-3"])
    )
  })

  it("carry audit logs and the changes of background commands over while nobody closes the workspace", async () => {
    const database = await postgres.newDatabase()
    const one = await startMember(database, { captureMs: 100 })
    const copy = await openAt(one)
    const facts = { reads: [], writes: [], runs: "make", risk: "dangerous" } as const
    await run(copy.ledger.claim({ id: "background", tool: "run_command" }, facts))
    mkdirSync(join(copy.state, "runs/r1"), { recursive: true })
    writeFileSync(join(copy.state, "runs/r1/events.jsonl"), "{}\n")
    writeFileSync(join(copy.root, "built.txt"), "built\n")
    const isCaptured = async (path: string) => (await readLog(database, "default")).files.has(path)
    await expect.poll(() => isCaptured("built.txt")).toBe(true)
    // The next capture begins when the first has stored the audit log, too.
    writeFileSync(join(copy.root, "next.txt"), "next\n")
    await expect.poll(() => isCaptured("next.txt")).toBe(true)
    // Its member is gone without a word: the next owner has both.
    one.network.drop(true)
    const other = await startMember(database)
    await expect.poll(async () => (await run(other.member.route("default"))).kind, { timeout: 20_000 }).toBe("here")
    const next = await openAt(other)
    expect(readFileSync(join(next.root, "built.txt"), "utf8")).toBe("built\n")
    await expect
      .poll(() => readFileSync(join(next.state, "runs/r1/events.jsonl"), "utf8"), { timeout: 5_000 })
      .toBe("{}\n")
  })

  it("leave a workspace that can't be opened to say why, and try again", async () => {
    const database = await postgres.newDatabase()
    const isFull = { now: true }
    const one = await startMember(database, {
      open: (copy) =>
        isFull.now
          ? Effect.die(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }))
          : Effect.succeed({ value: copy, close: () => Effect.void, isIdle: () => false })
    })
    await expect(limited(run(one.member.route("default", { waitMs: 500 })))).rejects.toThrow("no space left on device")
    expect(one.events).toContainEqual(expect.objectContaining({ type: "failed", workspace: "default" }))
    isFull.now = false
    await expect
      .poll(
        () =>
          run(one.member.route("default")).then(
            ({ kind }) => kind,
            () => "failed"
          ),
        { timeout: 20_000 }
      )
      .toBe("here")
  })

  it("restore a copy whose files could not be written after the log had decided", async () => {
    const database = await postgres.newDatabase()
    const one = await startMember(database)
    const copy = await openAt(one)
    const commit: CommitToDecide = {
      call: "full",
      changes: [{ path: "a.txt", kind: "modified", what: "file", before: "x", after: "y", bytesWritten: 4 }],
      content: () => [Buffer.from("two\n")]
    }
    await run(copy.decide(commit))
    // The disk is full: the steps of the commit fail, and nobody says that they are done.
    await run(copy.finish("full", "write_file", undefined))
    expect(copy.isLost()).toBe(true)
    await expect
      .poll(async () => readFileSync(join((await openAt(one)).root, "a.txt"), "utf8"), { timeout: 20_000 })
      .toBe("two\n")
    expect(await write(await openAt(one), "next", "three\n")).toBe("made")
  })
})
