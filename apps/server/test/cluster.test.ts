import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { findPostgres, startPostgres, type TestPostgres } from "@haft/cluster/testing"
import { openAdministration } from "haft/cluster"
import type { HaftConfig } from "haft/internal"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { type RunningServer, serveHaft } from "../src/index.ts"

const isThere = findPostgres() !== undefined
const agent = "agent-token-0123456789abcdef"
const approver = "approver-token-0123456789abc"
const secret = "cluster-secret-0123456789abcdef"
const limit = 120_000

describe.skipIf(!isThere)("servers of a cluster (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scratch: string
  const running: Array<RunningServer> = []

  beforeAll(async () => {
    postgres = await startPostgres()
    scratch = mkdtempSync(join(tmpdir(), "haft-cluster-server-"))
  }, limit)
  afterAll(async () => {
    for (const server of running) await server.stop({ atOnce: true })
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  }, limit)

  const seed = (name: string): string => {
    const root = join(scratch, name)
    mkdirSync(root, { recursive: true })
    writeFileSync(join(root, "a.txt"), "one\n")
    return root
  }
  const member = async (database: string, root: string, more: Partial<HaftConfig> = {}, leaseMs = 4_000) => {
    const address = `127.0.0.1:${await freePort()}`
    const directory = mkdtempSync(join(scratch, "member-"))
    const server = await serveHaft({
      workspaces: { default: { root, approval: "all", sandbox: "none", state: join(directory, "unused"), ...more } },
      cluster: { database, address, secret, directory, leaseMs },
      tokens: { agent, approver },
      version: "0.0.0",
      port: 0
    })
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

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
