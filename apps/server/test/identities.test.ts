import { temporaryWorkspace } from "@haft/testing"
import { type NewToken, openSessions, openTokens } from "haft/internal"
import { expect, it, onTestFinished } from "vitest"

import { readEvents, startServer, tokens as fixed } from "./running.ts"

/** A server with two workspaces and stored tokens; `as` sends with one of them. */
const start = async (wanted: ReadonlyArray<NewToken>) => {
  const other = temporaryWorkspace({ "b.txt": "b\n" })
  const own = temporaryWorkspace({ "a.txt": "a\n" })
  onTestFinished(() => other.remove())
  const store = await openTokens({ root: own.root, state: own.state })
  const secrets = new Map<string, string>()
  for (const token of wanted) secrets.set(token.name, (await store.create(token)).secret)
  const running = await startServer(
    {},
    {
      workspace: own,
      tokenStore: store,
      workspaces: {
        default: { root: own.root, state: own.state, sandbox: "none" },
        docs: { root: other.root, state: other.state, sandbox: "none" }
      }
    }
  )
  const as = (name: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> =>
    running.send(path, undefined, {
      ...init,
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${secrets.get(name)}`,
        "content-type": "application/json",
        ...(init.headers as Record<string, string> | undefined)
      }
    })
  return { ...running, store, as }
}

const list = { tool: "list_dir", params: {} }
const calls = (workspace: string) => `/v1/workspaces/${workspace}/calls`

it("a token is for its workspaces only, on every route", async () => {
  const { as } = await start([
    { name: "docs-agent", role: "agent", workspaces: ["docs"] },
    { name: "docs-approver", role: "approver", workspaces: ["docs"] }
  ])
  expect((await as("docs-agent", calls("docs"), list)).status).toBe(200)
  const routes = ["tools", "approvals", "rules", "runs", "events", "terminals", "runs/x/events", "runs/x/artifacts/y"]
  for (const route of routes) {
    const response = await as("docs-approver", `/v1/workspaces/default/${route}`)
    expect([route, response.status, await response.json()]).toMatchObject([
      route,
      404,
      { error: { code: "unknown_workspace" } }
    ])
  }
  for (const path of [calls("default"), "/v1/workspaces/default/mcp/haft", "/mcp"]) {
    expect([path, (await as("docs-agent", path, list)).status]).toEqual([path, 404])
  }
  expect(await (await as("docs-agent", "/v1/workspaces")).json()).toMatchObject({ workspaces: [{ name: "docs" }] })
  expect(await (await as("docs-agent", "/v1/me")).json()).toEqual({
    name: "docs-agent",
    role: "agent",
    workspaces: ["docs"]
  })
})

it("a token ends when it is revoked or expires, while the server runs, and so does its browser's session", async () => {
  const { as, store, send, call, server } = await start([
    { name: "alice", role: "approver" },
    { name: "old", role: "agent", expires: "2020-01-01T00:00:00Z" }
  ])
  expect((await as("old", calls("default"), list)).status).toBe(401)
  const { link } = (await (await as("alice", "/v1/links", {})).json()) as { link: string }
  const login = await send(link.slice(server.url.length))
  const headers = {
    cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "",
    "haft-session-key": login.headers.get("location")?.split("=")[1] ?? ""
  }
  expect(await (await send("/v1/me", undefined, { headers })).json()).toEqual({ name: "alice", role: "approver" })
  const stream = await as("alice", "/v1/workspaces/default/events")
  expect(await store.revoke("alice")).toBe(true)
  // The stream is cut before the next event.
  await call("list_dir", {})
  expect(await textBefore(stream)).not.toContain("list_dir")
  expect((await as("alice", calls("default"), list)).status).toBe(401)
  expect((await send("/v1/me", undefined, { headers })).status).toBe(401)
})

it("only an admin makes and revokes tokens, and sees no secret", async () => {
  const { as, send } = await start([
    { name: "root", role: "admin" },
    { name: "alice", role: "approver" }
  ])
  expect((await as("alice", "/v1/tokens")).status).toBe(403)
  const made = await as("root", "/v1/tokens", { name: "ci", role: "agent", workspaces: ["docs"] })
  const { secret, token } = (await made.json()) as { secret: string; token: object }
  expect(token).toMatchObject({ name: "ci", role: "agent", workspaces: ["docs"] })
  const asCi = { headers: { authorization: `Bearer ${secret}` } }
  expect((await send("/v1/me", undefined, asCi)).status).toBe(200)
  expect((await as("root", "/v1/tokens", { name: "ci", role: "agent" })).status).toBe(400)
  const listed = await (await as("root", "/v1/tokens")).text()
  expect([listed.includes("ci"), listed.includes(secret), listed.includes("sha256")]).toEqual([true, false, false])
  expect((await as("root", "/v1/tokens/ci", undefined, { method: "DELETE" })).status).toBe(200)
  expect((await as("root", "/v1/tokens/ci", undefined, { method: "DELETE" })).status).toBe(404)
  expect((await send("/v1/me", undefined, asCi)).status).toBe(401)
})

it("the audit log says who called and who decided, over HTTP and MCP", async () => {
  const { as, base } = await start([
    { name: "ci", role: "agent" },
    { name: "alice", role: "approver" }
  ])
  const answerNext = async (approved: boolean) => {
    const open = async () =>
      ((await (await as("alice", `${base}/approvals`)).json()) as { approvals: Array<{ id: string; caller: object }> })
        .approvals
    await expect.poll(open).toMatchObject([{ caller: { name: "ci", role: "agent" } }])
    const [question] = await open()
    await as("alice", `${base}/approvals/${question?.id}`, { approved })
  }
  const write = { path: "b.txt", content: "b" }
  const overHttp = as("ci", calls("default"), { tool: "write_file", params: write })
  await answerNext(true)
  expect(await (await overHttp).json()).toMatchObject({ ok: true })
  const headers = { accept: "application/json, text/event-stream" }
  const clientInfo = { name: "test", version: "0" }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
  const opened = await as("ci", "/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params }, { headers })
  await opened.text()
  const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write_file", arguments: write } }
  const overMcp = as("ci", "/mcp", call, { headers: session })
  await answerNext(false)
  await (await overMcp).text()
  const events = await readEvents(
    await as("alice", `${base}/events`),
    (all) => all.filter(({ data }) => data?.type === "tool_call_finished").length === 2
  )
  const ofType = (type: string) => events.flatMap(({ data }) => (data?.type === type ? [data] : []))
  const [ci, alice] = [
    { name: "ci", role: "agent" },
    { name: "alice", role: "approver" }
  ]
  expect(ofType("tool_call_started")).toMatchObject([{ caller: ci }, { caller: ci }])
  expect(ofType("approval_decided")).toMatchObject([
    { decision: "allow", by: "person", person: alice },
    { decision: "deny", by: "person", person: alice }
  ])
  expect(ofType("tool_call_finished")).toMatchObject([{ approval: { person: alice } }, { approval: { person: alice } }])
})

it("a fixed token has the name of its role", async () => {
  const { send } = await start([])
  expect(await (await send("/v1/me", "agent")).json()).toEqual({ name: "agent", role: "agent" })
  expect(fixed.agent.length).toBeGreaterThan(15)
})

it("one event stream tells of news in all of one's workspaces, and of no others", async () => {
  const { as } = await start([
    { name: "docs-approver", role: "approver", workspaces: ["docs"] },
    { name: "alice", role: "approver" },
    { name: "ci", role: "agent" }
  ])
  expect((await as("ci", "/v1/events")).status).toBe(403)
  const [ofDocs, ofAll] = [await as("docs-approver", "/v1/events"), await as("alice", "/v1/events")]
  for (const workspace of ["default", "docs"]) await as("ci", calls(workspace), list)
  const told = async (stream: Response, count: number) => {
    const events = await readEvents(stream, (all) => workspacesIn(all).size >= count)
    return workspacesIn(events)
  }
  const workspacesIn = (events: Awaited<ReturnType<typeof readEvents>>) =>
    new Set(events.flatMap(({ event, data }) => (event === "record" ? [data?.["workspace"]] : [])))
  expect(await told(ofAll, 2)).toEqual(new Set(["default", "docs"]))
  expect(await told(ofDocs, 1)).toEqual(new Set(["docs"]))
})

/** Text of a response up to its end, or to where it is truncated. */
const textBefore = async (response: Response): Promise<string> => {
  let text = ""
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  } catch {
    return text
  }
  return text
}

it("a revoked token cuts the MCP streams that it opened, and cancels the calls behind them", async () => {
  const { as, store, base } = await start([
    { name: "ci", role: "agent" },
    { name: "alice", role: "approver" }
  ])
  const accept = { accept: "application/json, text/event-stream" }
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } }
  const opened = await as("ci", "/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params }, { headers: accept })
  const headers = { ...accept, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
  await opened.text()
  await as("ci", "/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, { headers })
  const news = await as("ci", "/mcp", undefined, { headers })
  expect(news.status).toBe(200)
  const call = { name: "run_command", arguments: { command: "true" } }
  const answer = as("ci", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }, { headers })
  const open = async () =>
    ((await (await as("alice", `${base}/approvals`)).json()) as { approvals: unknown[] }).approvals
  await expect.poll(open).toHaveLength(1)
  await store.revoke("ci")
  await textBefore(news)
  await answer.then(textBefore, () => "")
  await expect.poll(open).toHaveLength(0)
})

it("metrics are of the workspaces that a token is for", async () => {
  const { as } = await start([
    { name: "docs-agent", role: "agent", workspaces: ["docs"] },
    { name: "agent", role: "agent" }
  ])
  for (const workspace of ["default", "docs"]) await as("agent", calls(workspace), list)
  const workspacesIn = async (name: string) => {
    const text = await (await as(name, "/metrics")).text()
    expect(text).toContain("haft_http_requests_total")
    return new Set([...text.matchAll(/workspace="(\w+)"/g)].map(([, workspace]) => workspace))
  }
  expect(await workspacesIn("docs-agent")).toEqual(new Set(["docs"]))
  expect(await workspacesIn("agent")).toEqual(new Set(["default", "docs"]))
})

it("artifacts are for approvers, and for those of their workspace", async () => {
  const { as } = await start([
    { name: "agent", role: "agent" },
    { name: "docs-approver", role: "approver", workspaces: ["docs"] }
  ])
  const paths = ["default", "docs"].map((workspace) => `/v1/workspaces/${workspace}/runs/x/artifacts/y`)
  const statuses = (name: string) => Promise.all(paths.map(async (path) => (await as(name, path)).status))
  expect([await statuses("agent"), await statuses("docs-approver")]).toEqual([
    [403, 403],
    [404, 404]
  ])
})

it("a browser stays signed in over a restart, until it signs out", async () => {
  const workspace = temporaryWorkspace({})
  const config = { root: workspace.root, state: workspace.state }
  const start = async () => startServer({}, { workspace, sessionStore: await openSessions(config) })
  const first = await start()
  const signedIn = await fetch(first.server.consoleLink(), { redirect: "manual" })
  const cookie =
    signedIn.headers
      .get("set-cookie")
      ?.split(";")[0]
      ?.replace(/^[^=]+/, "") ?? ""
  const key = signedIn.headers.get("location")?.replace("/#key=", "") ?? ""
  await first.server.stop()
  const { send, server } = await start()
  const headers = { cookie: `haft_session_${new URL(server.url).port}${cookie}`, "haft-session-key": key }
  const me = () => send("/v1/me", undefined, { headers })
  expect(await (await me()).json()).toEqual({ name: "console", role: "approver" })
  expect((await send("/v1/me", undefined, { headers: { cookie: headers.cookie } })).status).toBe(401)
  expect(workspace.read("../state/sessions.json")).not.toContain(key)
  const out = await send("/v1/session", undefined, { method: "DELETE", headers })
  expect(await out.json()).toEqual({ signedOut: true })
  expect(out.headers.get("set-cookie")).toContain("Max-Age=0")
  expect((await me()).status).toBe(401)
  expect(JSON.parse(workspace.read("../state/sessions.json"))).toMatchObject({ sessions: [] })
})
