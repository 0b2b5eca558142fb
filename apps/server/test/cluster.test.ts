import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openDatabase } from "@haft/cluster"
import { findPostgres, freePort, startPostgres, type TestPostgres } from "@haft/cluster/testing"
import * as Effect from "effect/Effect"
import { type ClusterAdministration, openAdministration } from "haft/cluster"
import type { HaftConfig } from "haft/internal"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { type RunningServer, serveHaft } from "../src/index.ts"
import { spansIn, startCollector, withEnvironment } from "./collector.ts"
import { readEvents, type ServerSentEvent } from "./running.ts"

const isThere = findPostgres() !== undefined
const agent = "agent-token-0123456789abcdef"
const approver = "approver-token-0123456789abc"
const secret = "cluster-secret-0123456789abcdef"
const limit = 120_000

describe.skipIf(!isThere)("servers of a cluster (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scratch: string
  const running: Array<RunningServer> = []
  const administrations: Array<ClusterAdministration> = []

  beforeAll(async () => {
    postgres = await startPostgres()
    scratch = mkdtempSync(join(tmpdir(), "haft-cluster-server-"))
  }, limit)
  afterAll(async () => {
    for (const server of running) await server.stop({ atOnce: true })
    for (const shared of administrations) await shared.close()
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  }, limit)

  const seed = (name: string): string => {
    const root = join(scratch, name)
    mkdirSync(root, { recursive: true })
    writeFileSync(join(root, "a.txt"), "one\n")
    return root
  }
  const member = async (
    database: string,
    root: string,
    more: Partial<HaftConfig> = {},
    leaseMs = 4_000,
    others: Readonly<Record<string, HaftConfig>> = {}
  ) => {
    const address = `127.0.0.1:${await freePort()}`
    const directory = mkdtempSync(join(scratch, "member-"))
    const shared = await openAdministration(database)
    const server = await serveHaft({
      workspaces: {
        default: { root, approval: "all", sandbox: "none", state: join(directory, "unused"), ...more },
        ...others
      },
      cluster: { database, address, secret, directory, leaseMs },
      tokens: { agent, approver },
      tokenStore: shared.tokens,
      sessionStore: shared.sessions,
      version: "0.0.0",
      port: 0
    })
    administrations.push(shared)
    running.push(server)
    return { ...server, address, file: (path: string) => join(directory, "default/files", path) }
  }
  type Served = Awaited<ReturnType<typeof member>>
  const send = (at: Served, path: string, body?: object, token = agent) =>
    fetch(`${at.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
    })
  const call = async (at: Served, tool: string, params: object, more: object = {}) => {
    const response = await send(at, "/v1/workspaces/default/calls", { tool, params, ...more })
    return (await response.json()) as { ok: boolean; result?: Record<string, unknown>; error?: { code: string } }
  }
  const ownerOf = async (database: string): Promise<string | undefined> => {
    const administration = await openAdministration(database)
    try {
      return (await administration.status()).workspaces[0]?.owner
    } finally {
      await administration.close()
    }
  }

  it(
    "answer at each member for one workspace, and hand it over with its files, rules and audit logs",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("handed-over")
      const members = [await member(database, root), await member(database, root), await member(database, root)]
      for (const [index, at] of members.entries()) {
        const written = await call(at, "write_file", { path: `${index}.txt`, content: `${index}\n` })
        expect(written).toMatchObject({ ok: true })
      }
      const owner = await ownerOf(database)
      const first = members.find(({ address }) => address === owner)!
      const [other, third] = members.filter((one) => one !== first) as [Served, Served]
      // The directory that was imported stays as it is.
      expect(() => readFileSync(join(root, "0.txt"))).toThrow("ENOENT")
      expect(readFileSync(first.file("2.txt"), "utf8")).toBe("2\n")

      const rule = { tool: "write_file", fields: { path: { equals: "locked.txt" } }, decision: "deny" }
      const added = await send(other, "/v1/workspaces/default/rules", rule, approver)
      expect([200, 201], await added.clone().text()).toContain(added.status)
      const runs = async (at: Served) =>
        (
          (await (await send(at, "/v1/workspaces/default/runs", undefined, approver)).json()) as {
            runs: ReadonlyArray<{ name: string }>
          }
        ).runs
      const before = (await runs(other)).map(({ name }) => name)

      const administration = await openAdministration(database)
      expect(await administration.move("default", other.address)).toBe(true)
      await expect.poll(() => ownerOf(database), { timeout: 30_000 }).toBe(other.address)
      await administration.close()
      const denied = await call(first, "write_file", { path: "locked.txt", content: "x" })
      expect(denied).toMatchObject({ ok: false, error: { code: "approval_denied" } })
      expect((await call(first, "read_file", { path: "1.txt" })).result).toMatchObject({
        content: expect.stringContaining("1") as string
      })
      expect(readFileSync(other.file("2.txt"), "utf8")).toBe("2\n")
      expect((await runs(first)).map(({ name }) => name)).toEqual(expect.arrayContaining(before))

      // A member that stops hands over what it owns.
      await other.stop()
      expect((await call(third, "read_file", { path: "2.txt" })).ok).toBe(true)
      expect((await call(first, "read_file", { path: "2.txt" })).ok).toBe(true)
      expect(await ownerOf(database)).not.toBe(other.address)
    },
    limit
  )

  it(
    "give a call that is sent again the reply of the first, at whichever member",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("again")
      const [one, other] = [await member(database, root), await member(database, root)]
      const edit = { path: "a.txt", edits: [{ find: "one", replace: "two" }] }
      const first = await call(one, "edit_file", edit, { request_id: "r1" })
      const again = await call(other, "edit_file", edit, { request_id: "r1" })
      expect(first).toMatchObject({ ok: true })
      expect(again).toEqual(first)
      // The reply of a call without an id is not stored: nobody can ask for it.
      const owner = (await ownerOf(database)) === one.address ? one : other
      const stored = () =>
        Effect.runPromise(
          Effect.scoped(
            Effect.flatMap(openDatabase({ url: database }), ({ query }) =>
              query<{ request_id: string }>("SELECT request_id FROM haft.call WHERE reply IS NOT NULL")
            )
          )
        )
      expect(await call(owner, "write_file", { path: "b.txt", content: "b" })).toMatchObject({ ok: true })
      expect(await stored()).toEqual([{ request_id: "r1" }])
      const command = { command: "printf x >> count.txt" }
      const ran = await call(one, "run_command", command, { request_id: "r2" })
      expect(await call(other, "run_command", command, { request_id: "r2" })).toEqual(ran)
      expect((await call(other, "read_file", { path: "count.txt" })).result).toMatchObject({
        content: expect.not.stringContaining("xx") as string
      })
    },
    limit
  )

  it(
    "ask at the owner and take the answer at another member",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("asked")
      const ask = { approval: "ask" } as const
      const [one, other] = [await member(database, root, ask), await member(database, root, ask)]
      const asked = call(one, "write_file", { path: "asked.txt", content: "x" })
      const open = async () =>
        (
          (await (await send(other, "/v1/workspaces/default/approvals", undefined, approver)).json()) as {
            approvals: ReadonlyArray<{ id: string }>
          }
        ).approvals
      await expect.poll(async () => (await open()).length, { timeout: 30_000 }).toBe(1)
      const [question] = await open()
      const answered = await send(
        other,
        `/v1/workspaces/default/approvals/${question?.id}`,
        { approved: true },
        approver
      )
      expect(answered.status, await answered.clone().text()).toBe(200)
      expect(await asked).toMatchObject({ ok: true })
    },
    limit
  )

  it(
    "list the workspaces, questions and events of all members at each of them",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("gathered")
      const config = { root, approval: "ask" } as const
      const others = { second: config, third: config, fourth: config }
      const members = await Promise.all([
        member(database, root, config, 4_000, others),
        member(database, root, config, 4_000, others)
      ])
      const [one, other] = members
      const asked = Object.keys({ default: 0, ...others }).map((name) =>
        send(one, `/v1/workspaces/${name}/calls`, { tool: "write_file", params: { path: "b.txt", content: name } })
      )
      interface Listed {
        readonly workspaces: ReadonlyArray<{ readonly name: string; readonly run: string }>
        readonly approvals: ReadonlyArray<{ readonly id: string; readonly workspace: string }>
      }
      const get = async (at: Served, path: string) =>
        (await (await send(at, path, undefined, approver)).json()) as Listed
      for (const at of members) {
        await expect.poll(async () => (await get(at, "/v1/approvals")).approvals.length, { timeout: 30_000 }).toBe(4)
        const { workspaces } = await get(at, "/v1/workspaces")
        expect(workspaces.map(({ name }) => name).toSorted()).toEqual(["default", "fourth", "second", "third"])
        expect(workspaces.every(({ run }) => run !== "")).toBe(true)
        const overview = (await get(at, "/v1/overview")).workspaces.map(({ name }) => name)
        expect(overview).toEqual(["default", "fourth", "second", "third"])
      }
      const stream = await send(other, "/v1/events", undefined, approver)
      const { approvals } = await get(one, "/v1/approvals")
      for (const { id, workspace } of approvals) {
        const answered = await send(one, `/v1/workspaces/${workspace}/approvals/${id}`, { approved: true }, approver)
        expect(answered.status).toBe(200)
      }
      const closed = (events: ReadonlyArray<ServerSentEvent>) =>
        new Set(
          events.flatMap(({ event, data }) =>
            event === "approvals" && data?.type === "closed" ? [String(data["workspace"])] : []
          )
        )
      const events = await readEvents(stream, (all) => closed(all).size === 4)
      expect([...closed(events)].toSorted()).toEqual(["default", "fourth", "second", "third"])
      expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true)

      // A stream ends when members change; its client connects again and gets those that are there by then.
      const before = await send(one, "/v1/events", undefined, approver)
      await other.stop()
      await readEvents(before, () => false)
      await expect
        .poll(async () => (await get(one, "/v1/overview")).workspaces.length, { timeout: 30_000 })
        .toBeGreaterThan(0)
    },
    limit
  )

  it(
    "know a browser's session at each member, and end it at all",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("sessions")
      const [one, other] = [await member(database, root), await member(database, root)]
      const signedIn = await fetch(one.consoleLink(), { redirect: "manual" })
      const cookie = /=([^;]+);/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1]
      const key = /#key=(.+)$/.exec(signedIn.headers.get("location") ?? "")?.[1] ?? ""
      const as = (at: Served, method = "GET", path = "/v1/me") =>
        fetch(`${at.url}${path}`, {
          method,
          headers: { cookie: `haft_session_${new URL(at.url).port}=${cookie}`, "haft-session-key": key }
        })
      expect(await (await as(one)).json()).toMatchObject({ role: "approver", cluster: true })
      expect(await (await as(other)).json()).toMatchObject({ role: "approver", cluster: true })
      expect((await as(other, "DELETE", "/v1/session")).status).toBe(200)
      expect((await as(other)).status).toBe(401)
      await expect.poll(async () => (await as(one)).status, { timeout: 10_000 }).toBe(401)
    },
    limit
  )

  it(
    "move a workspace for an approver of it, and drain a member for an admin only",
    async () => {
      const database = await postgres.newDatabase()
      const root = seed("moved")
      const [one, other] = [await member(database, root), await member(database, root)]
      expect(await call(one, "read_file", { path: "a.txt" })).toMatchObject({ ok: true })
      const owner = await ownerOf(database)
      const to = owner === one.address ? other.address : one.address
      const move = (token: string, workspace = "default", address = to) =>
        send(one, "/v1/cluster/moves", { workspace, to: address }, token)
      const administration = await openAdministration(database)
      const scoped = await administration.tokens.create({ name: "docs", role: "approver", workspaces: ["docs"] })
      const admin = await administration.tokens.create({ name: "root", role: "admin" })
      await administration.close()
      expect((await move(agent)).status).toBe(403)
      expect((await move(scoped.secret)).status).toBe(404)
      expect((await move(approver, "default", "127.0.0.1:1")).status).toBe(404)
      const seen = await send(other, "/v1/cluster", undefined, scoped.secret)
      expect(await seen.json()).toMatchObject({ workspaces: [] })
      expect((await move(approver)).status).toBe(202)
      await expect.poll(() => ownerOf(database), { timeout: 30_000 }).toBe(to)
      const drain = (token: string) => send(one, "/v1/cluster/drains", { address: to }, token)
      expect((await drain(approver)).status).toBe(403)
      expect((await drain(admin.secret)).status).toBe(202)
      await expect.poll(() => ownerOf(database), { timeout: 30_000 }).toBe(owner)
      expect((await drain(admin.secret)).status).toBe(404)
    },
    limit
  )

  it(
    "continue the trace of a caller at the owner, with spans for the hop, the opening and the commit",
    async () => {
      const { url, received } = await startCollector()
      withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })
      const database = await postgres.newDatabase()
      const root = seed("traced")
      const members = [await member(database, root), await member(database, root)]
      expect(await call(members[0]!, "read_file", { path: "a.txt" })).toMatchObject({ ok: true })
      const owner = await ownerOf(database)
      const other = members.find(({ address }) => address !== owner)!
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const written = await fetch(`${other.url}/v1/workspaces/default/calls`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${agent}`,
          "content-type": "application/json",
          traceparent: `00-${traceId}-b7ad6b7169203331-01`
        },
        body: JSON.stringify({ tool: "write_file", params: { path: "b.txt", content: "b" } })
      })
      expect(await written.json()).toMatchObject({ ok: true })
      for (const one of members) await one.stop()

      const spans = received.filter(({ path }) => path === "/v1/traces").flatMap(({ body }) => spansIn(body))
      const named = (name: string) => spans.filter((span) => span.name === name && span.traceId === traceId)
      const [hop] = named("haft.forward")
      expect(hop).toMatchObject({ parentSpanId: "b7ad6b7169203331" })
      expect(named("haft write_file")).toMatchObject([{ parentSpanId: hop?.spanId }])
      expect(named("haft.decide")).toHaveLength(1)
      expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["haft.open", "haft.hand_over"]))
    },
    limit
  )

  it(
    "refuse requests of strangers at the address for members",
    async () => {
      const database = await postgres.newDatabase()
      const one = await member(database, seed("strangers"))
      const response = await fetch(`http://${one.address}/v1/workspaces/default/tools`, {
        headers: {
          authorization: `Bearer ${agent}`,
          "haft-member-caller": "e30",
          "haft-member-signature": "0".repeat(64)
        }
      })
      expect(response.status).toBe(401)
    },
    limit
  )

  it(
    "refuse changes while the database is down, go on with reads until the lease ends, and recover",
    async () => {
      const database = await postgres.newDatabase()
      const one = await member(database, seed("outage"), {}, 6_000)
      expect(await call(one, "write_file", { path: "b.txt", content: "b" })).toMatchObject({ ok: true })
      await postgres.kill()
      try {
        const read = await call(one, "read_file", { path: "b.txt" })
        expect(read, JSON.stringify(read)).toMatchObject({ ok: true })
        const refused = await call(one, "write_file", { path: "c.txt", content: "c" })
        expect(refused).toMatchObject({ ok: false, error: { code: "cluster_unavailable" } })
        const late = async () =>
          (await send(one, "/v1/workspaces/default/calls", { tool: "read_file", params: { path: "b.txt" } })).status
        await expect.poll(late, { timeout: 30_000, interval: 500 }).toBe(503)
      } finally {
        await postgres.start()
      }
      await expect
        .poll(async () => (await call(one, "write_file", { path: "d.txt", content: "d" })).ok, {
          timeout: 60_000,
          interval: 500
        })
        .toBe(true)
      expect(() => readFileSync(one.file("c.txt"))).toThrow("ENOENT")
    },
    limit
  )
})
