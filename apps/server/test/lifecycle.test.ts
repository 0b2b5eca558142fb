import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { readRun, verifyRun } from "haft/internal"
import { expect, it } from "vitest"

import { inFlight, type Running, startServer, tokens } from "./running.ts"

const openQuestions = async ({ send, base }: Running): Promise<Array<{ id: string; tool: string }>> =>
  ((await (await send(`${base}/approvals`, "approver")).json()) as { approvals: [] }).approvals

it("stops gracefully: running calls end, new ones get 503, open questions are a no, and all of it is on record", async () => {
  const running = await startServer({}, { limits: { graceMilliseconds: 5_000 } })
  const { server, call, post, send, base } = running
  const slow = call("run_command", { command: "touch started; sleep 0.7; echo done" }, "approver")
  const asking = call("write_file", { path: "b.txt", content: "" })
  await expect.poll(() => openQuestions(running)).toHaveLength(1)
  await expect.poll(() => running.workspace.exists("started")).toBe(true)
  const stopped = server.stop()
  const health = await send("/healthz")
  expect([health.status, await health.json()]).toEqual([503, { status: "stopping", version: "1.2.3" }])
  const late = await post(`${base}/calls`, { tool: "list_dir" })
  expect([late.status, await late.json()]).toMatchObject([503, { error: { code: "stopping" } }])
  expect(await asking).toMatchObject({ ok: false, error: { message: expect.stringContaining("the server stopped") } })
  expect(await slow).toMatchObject({ ok: true })
  await stopped
  await expect(send("/healthz")).rejects.toThrow(/fetch failed/)
  const { root, state } = running.workspace
  expect(await verifyRun({ root, state })).toMatchObject({ intact: true, tornTail: false })
  const events = await readRun({ root, state })
  const told = events.map(({ type, tool, status, reason }) => [type, tool, status ?? reason])
  expect(events).toContainEqual(expect.objectContaining({ type: "approval_decided", by: "nobody" }))
  expect(told).toContainEqual(["approval_decided", "write_file", "the server stopped"])
  expect(told).toContainEqual(["tool_call_finished", "write_file", "error"])
  expect(told).toContainEqual(["tool_call_finished", "run_command", "success"])
})

it("refuses what is asked while it stops, and cuts the wait short when told to", async () => {
  const { server, call, send, workspace } = await startServer({}, { limits: { graceMilliseconds: 600_000 } })
  const { host, hostname, port } = new URL(server.url)
  const body = JSON.stringify({ tool: "write_file", params: { path: "b.txt", content: "" } })
  const head = `POST /v1/workspaces/default/calls HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens.agent}\r\n`
  const socket = connect(Number(port), hostname)
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`)
  await expect.poll(() => inFlight(send)).toBe(1)
  const endless = call("run_command", { command: "touch started; exec sleep 1000" }, "approver")
  endless.catch(() => {})
  await expect.poll(() => workspace.exists("started")).toBe(true)
  const stopped = server.stop()
  socket.write(body.slice(9))
  const heard: Array<string> = []
  socket.on("data", (chunk) => heard.push(chunk.toString()))
  await expect.poll(() => heard.join("")).toContain("the server stopped")
  await server.stop({ atOnce: true })
  await stopped
})

it("ends what does not end in time, with an answer to whoever waits", async () => {
  const { server, post, base, workspace, defects } = await startServer({}, { limits: { graceMilliseconds: 100 } })
  const endless = post(
    `${base}/calls`,
    { tool: "run_command", params: { command: "echo $$ > pid; exec sleep 1000" } },
    "approver"
  )
  await expect.poll(() => workspace.exists("pid") && workspace.read("pid")).toMatch(/^\d+\n$/)
  await server.stop()
  const answer = await endless.then(
    ({ status }) => status,
    () => "closed"
  )
  expect([503, "closed"]).toContain(answer)
  const pid = Number(workspace.read("pid"))
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
  expect(defects).toEqual([])
})

it("finds rules and record as they were when it starts again", async () => {
  const workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const first = await startServer({}, { workspace })
  const rule = { id: "letters", tool: "write_file", decision: "allow", touches: { writes: "letters/**" } }
  expect((await first.post(`${first.base}/rules`, { ...rule, decision: "deny" }, "approver")).status).toBe(200)
  const put = (id: string, body: unknown) =>
    first.post(`${first.base}/rules/${id}`, body, "approver", { method: "PUT" })
  expect((await put("none", rule)).status).toBe(404)
  expect((await put("letters", { ...rule, pattern: "(" })).status).toBe(400)
  expect((await put("letters", rule)).status).toBe(200)
  await first.call("read_file", { path: "a.txt" })
  await first.server.stop()

  const second = await startServer({}, { workspace })
  const { rules } = (await (await second.send(`${second.base}/rules`, "approver")).json()) as { rules: Array<object> }
  expect(rules).toMatchObject([rule])
  expect(await second.call("write_file", { path: "letters/a.txt", content: "" })).toMatchObject({ ok: true })
  const { runs } = (await (await second.send(`${second.base}/runs`, "approver")).json()) as {
    runs: Array<{ name: string }>
  }
  expect(runs).toHaveLength(2)
  const { events } = (await (await second.send(`${second.base}/runs/${runs[0]!.name}/events`, "approver")).json()) as {
    events: Array<{ type: string }>
  }
  expect(events.map(({ type }) => type)).toEqual(["tool_call_started", "tool_call_finished"])
})

it("says that rules can't be read, and not where they lie", async () => {
  const { send, post, call, base, workspace } = await startServer()
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ ok: true })
  writeFileSync(join(workspace.state, "rules.json"), "{ broken")
  for (const response of [await send(`${base}/rules`, "approver"), await post(`${base}/simulations`, {}, "approver")]) {
    const text = await response.text()
    expect([response.status, JSON.parse(text)]).toMatchObject([500, { error: { code: "rules_unreadable" } }])
    expect(text).not.toContain(workspace.state)
  }
  expect((await post(`${base}/simulations`, { run: "../none" }, "approver")).status).toBe(404)
})

it("serves several workspaces, each with its own dialect, policy and state", async () => {
  const other = temporaryWorkspace({ "b.txt": "other\n" })
  const own = temporaryWorkspace({ "a.txt": "own\n" })
  const { send, post } = await startServer(
    {},
    {
      workspace: own,
      workspaces: {
        default: { root: own.root, state: own.state, sandbox: "none" },
        other: { root: other.root, state: other.state, sandbox: "none", dialect: "agentbench", approval: "none" }
      }
    }
  )
  const { workspaces } = (await (await send("/v1/workspaces", "agent")).json()) as { workspaces: Array<object> }
  expect(workspaces).toMatchObject([
    { name: "default", dialect: "haft" },
    { name: "other", dialect: "agentbench" }
  ])
  const reply = await post("/v1/workspaces/other/calls", {
    tool: "read_file",
    params: { path: "b.txt" },
    request_id: "r1"
  })
  expect(await reply.json()).toMatchObject({ request_id: "r1", status: "success" })
  const elsewhere = await post("/v1/workspaces/other/calls", { tool: "read_file", params: { path: "a.txt" } })
  expect(await elsewhere.json()).toMatchObject({ status: "error" })
  expect((await post("/v1/workspaces/nowhere/calls", { tool: "x" })).status).toBe(404)
  other.remove()
})

it("refuses a port that is taken, in words, unless any will do", async () => {
  const { server } = await startServer()
  const port = Number(new URL(server.url).port)
  await expect(startServer({}, { port })).rejects.toThrow(`127.0.0.1:${port} is in use`)
  const elsewhere = await startServer({}, { port, orAnyPort: true })
  expect((await elsewhere.send("/healthz")).status).toBe(200)
})

it("a client that hangs up takes its question with it, and that is no bug", async () => {
  const running = await startServer()
  const controller = new AbortController()
  const call = running.call("write_file", { path: "b.txt", content: "" }, "agent", { signal: controller.signal })
  call.catch(() => {})
  await expect.poll(() => openQuestions(running)).toHaveLength(1)
  controller.abort()
  await expect.poll(() => openQuestions(running)).toEqual([])
  expect(running.workspace.exists("b.txt")).toBe(false)
  expect(running.defects).toEqual([])
})

it("counts what it does, for Prometheus", async () => {
  const { call, send } = await startServer()
  await call("read_file", { path: "a.txt" })
  await call("read_file", { path: "missing" })
  await call("made_up_by_the_caller", {})
  const text = await (await send("/metrics", "agent")).text()
  expect(text).toContain('haft_calls_total{tool="read_file",status="success",workspace="default"} 1')
  expect(text).toContain('haft_calls_total{tool="read_file",status="error",workspace="default"} 1')
  expect(text).toContain('haft_calls_total{tool="unknown",status="error",workspace="default"} 1')
  expect(text).toContain('haft_call_duration_seconds_count{tool="read_file",workspace="default"} 2')
  expect(text).toMatch(/^haft_calls_in_flight 0$/m)
  expect(text).toContain('haft_approvals_open{workspace="default"} 0')
  expect(text).toMatch(/^haft_http_requests_total\{route="\/v1\/workspaces\/.*",status="200"\} 3$/m)
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
})
