import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { findPostgres, freePort, startPostgres, type TestPostgres } from "@haft/cluster/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const bin = join(import.meta.dirname, "../src/bin.ts")
const limit = 120_000

describe.skipIf(findPostgres() === undefined)("haft cluster (needs PostgreSQL)", () => {
  let postgres: TestPostgres
  let scratch: string
  const children: Array<ChildProcess> = []
  const environment = () => ({
    ...process.env,
    HAFT_CLUSTER_SECRET: "secret-of-the-test-0123456789",
    HAFT_TOKEN: "3f9a7c1e5b2d8064a1c3e5f7092b4d6e",
    XDG_STATE_HOME: join(scratch, "state")
  })

  beforeAll(async () => {
    postgres = await startPostgres()
    scratch = mkdtempSync(join(tmpdir(), "haft-cli-cluster-"))
    mkdirSync(join(scratch, "project"))
    writeFileSync(join(scratch, "project/README.md"), "# A project\n")
  }, limit)
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL")
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  })

  const haft = (...args: ReadonlyArray<string>) =>
    spawnSync(process.execPath, ["--conditions=@haft/source", bin, ...args], { env: environment(), encoding: "utf8" })
  const serve = async (address: string, flags: ReadonlyArray<string> = []): Promise<string> => {
    const args = ["serve", "--json", "--workspace", join(scratch, "project"), "--approve", "all", "--port", "0"]
    const cluster = ["--cluster", postgres.url, "--address", address]
    const child = spawn(process.execPath, ["--conditions=@haft/source", ...flags, bin, ...args, ...cluster], {
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"]
    })
    children.push(child)
    let text = ""
    for await (const chunk of child.stdout ?? []) {
      text += String(chunk)
      const url = /"url": ?"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) return url
    }
    throw new Error("the member ended before it served")
  }
  const call = async (url: string, tool: string, params: object) => {
    const response = await fetch(`${url}/v1/workspaces/default/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${environment().HAFT_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ tool, params })
    })
    return (await response.json()) as { readonly ok: boolean }
  }

  it(
    "shows members and owners, moves a workspace, and drains a member",
    async () => {
      const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
      // The members start before their database does, and wait for it. The clock of the second is an hour ahead.
      await postgres.stop()
      const ahead = "const now = Date.now; Date.now = () => now() + 3600000"
      const serving = Promise.all([
        serve(addresses[0]!),
        serve(addresses[1]!, ["--import", `data:text/javascript,${ahead}`])
      ])
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await postgres.start()
      const urls = await serving
      expect(await call(urls[0], "write_file", { path: "a.txt", content: "a\n" })).toMatchObject({ ok: true })
      const status = () =>
        JSON.parse(haft("cluster", "status", "--cluster", postgres.url, "--json").stdout) as {
          members: ReadonlyArray<{ address: string; state: string }>
          workspaces: ReadonlyArray<{ name: string; owner?: string }>
        }
      const { members, workspaces } = status()
      expect(members.map(({ state }) => state)).toEqual(["active", "active"])
      const [from, to] = workspaces[0]?.owner === addresses[0] ? addresses : addresses.toReversed()
      expect(haft("cluster", "move", "default", to!, "--cluster", postgres.url).stdout).toContain(
        `default moves to ${to}`
      )
      await expect.poll(() => status().workspaces[0]?.owner, { timeout: 60_000, interval: 500 }).toBe(to)
      expect(haft("cluster", "drain", to!, "--cluster", postgres.url).status).toBe(0)
      await expect.poll(() => status().workspaces[0]?.owner, { timeout: 60_000, interval: 500 }).toBe(from)
      expect(await call(urls[1], "read_file", { path: "a.txt" })).toMatchObject({ ok: true })
      expect(haft("cluster", "status", "--cluster", postgres.url).stdout).toMatch(
        /MEMBER +STATE[\s\S]+draining[\s\S]+WORKSPACE +OWNER/
      )
      // A token of the command counts at every member, until it is revoked.
      const token = haft("token", "create", "carol", "--role", "approver", "--cluster", postgres.url).stdout.trim()
      const statusOf = async (url: string): Promise<number> =>
        (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status
      for (const url of urls) await expect.poll(() => statusOf(url), { timeout: 10_000 }).toBe(200)
      expect(haft("token", "revoke", "carol", "--cluster", postgres.url).status).toBe(0)
      for (const url of urls) await expect.poll(() => statusOf(url), { timeout: 10_000 }).toBe(401)
      const unknown = haft("cluster", "move", "default", "127.0.0.1:1", "--cluster", postgres.url)
      expect(unknown.status).not.toBe(0)
      expect(unknown.stderr).toContain("no active member at 127.0.0.1:1")
    },
    limit
  )

  it("refuses an address beyond this machine without TLS, and a missing secret", () => {
    const args = ["serve", "--workspace", join(scratch, "project"), "--port", "0", "--cluster", postgres.url]
    const exposed = haft(...args, "--address", "0.0.0.0:4801")
    expect(exposed.stderr).toContain("would not be encrypted")
    expect(haft("serve", "--cluster", postgres.url).stderr).toContain("--cluster needs --address")
  })
})
