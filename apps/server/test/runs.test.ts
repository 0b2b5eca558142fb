import { readdirSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it, onTestFinished } from "vitest"

import { startServer } from "./running.ts"

const admin = { authorization: "Bearer admin-token-of-the-test" }
const tokens = {
  agent: "agent-token-of-the-test",
  approver: "approver-token-of-the-test",
  admin: "admin-token-of-the-test"
}

it("replays a run on a copy, and says what was different", async () => {
  const { call, post, send, base, workspace } = await startServer({ approval: "all" })
  await call("write_file", { path: "b.txt", content: "b" })
  await call("read_file", { path: "a.txt" })
  const { runs } = (await (await send(`${base}/runs`, "approver")).json()) as { runs: [{ name: string }] }
  const replay = async () => (await post(`${base}/runs/${runs[0].name}/replay`, {}, "approver")).json()
  expect(await replay()).toEqual({
    run: runs[0].name,
    calls: [
      { step: 1, tool: "write_file", outcome: "same", differences: [] },
      { step: 2, tool: "read_file", outcome: "same", differences: [] }
    ],
    files: []
  })
  workspace.put("a.txt", "changed by hand\n")
  expect(await replay()).toMatchObject({ calls: [{ outcome: "same" }, { step: 2, outcome: "different" }] })
  expect(workspace.read("a.txt")).toBe("changed by hand\n")
  expect((await post(`${base}/runs/absent/replay`, {}, "approver")).status).toBe(404)
  expect((await post(`${base}/runs/${runs[0].name}/replay`, {}, "agent")).status).toBe(403)
})

it("removes old runs for an admin, says before which, and records who did", async () => {
  const workspace = temporaryWorkspace({ "a.txt": "a" })
  const first = await startServer({}, { workspace, tokens })
  await first.call("read_file", { path: "a.txt" })
  await first.server.stop()
  const { send, call, base } = await startServer({}, { workspace, tokens })
  await call("read_file", { path: "a.txt" })
  const runs = () => readdirSync(join(workspace.state, "runs")).toSorted()
  const [old = "", own = ""] = runs()
  const remove = (query: string, headers: Record<string, string> = admin) =>
    send(`${base}/runs?${query}`, undefined, { method: "DELETE", headers })
  const later = `before=${new Date(Date.now() + 60_000).toISOString()}`
  expect((await remove(later, { authorization: `Bearer ${tokens.approver}` })).status).toBe(403)
  expect(await (await remove(`${later}&dry=true`)).json()).toMatchObject({ runs: [old] })
  expect(await (await remove("before=2000-01-01T00:00:00Z")).json()).toEqual({ runs: [], bytes: 0 })
  expect(runs()).toEqual([old, own])
  expect(await (await remove(later)).json()).toMatchObject({ runs: [old] })
  expect(runs()).toEqual([own])
  expect((await send(`${base}/runs/${old}/events`, "approver")).status).toBe(404)
  const events = await (await send(`${base}/runs/${own}/events`, "approver")).text()
  expect(events).toContain('"type":"runs_pruned"')
  expect(events).toContain('"person":{"name":"admin","role":"admin"}')
})

it("adds one exit listener for any number of workspaces", async () => {
  const before = process.listenerCount("exit")
  const spaces = Array.from({ length: 12 }, () => temporaryWorkspace({}))
  onTestFinished(() => spaces.forEach((workspace) => workspace.remove()))
  const listed = spaces.map(({ root, state }, index) => [`w${index}`, { root, state, sandbox: "none" as const }])
  const { server } = await startServer({}, { workspaces: Object.fromEntries(listed) })
  expect(process.listenerCount("exit") - before).toBeLessThanOrEqual(1)
  await server.stop()
  expect(process.listenerCount("exit")).toBeLessThanOrEqual(before)
})

it("compresses large answers to a browser, and not to programs", async () => {
  const { server, send, base } = await startServer()
  const login = await fetch(server.consoleLink(), { redirect: "manual" })
  const key = /#key=([\w-]+)$/.exec(login.headers.get("location") ?? "")?.[1] ?? ""
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
  const answer = await send(`${base}/tools`, undefined, { headers: { cookie, "haft-session-key": key } })
  expect(answer.headers.get("content-encoding")).toBe("gzip")
  const plain = await send(`${base}/tools`, "approver")
  expect(plain.headers.get("content-encoding")).toBeNull()
  expect(await answer.json()).toEqual(await plain.json())
})
