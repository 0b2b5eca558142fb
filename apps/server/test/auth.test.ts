import { once } from "node:events"
import { connect } from "node:net"

import { exportFormats } from "haft/internal"
import { describe, expect, it } from "vitest"

import { inFlight, sendRaw, startServer, tokens } from "./running.ts"

describe("who may do what", () => {
  it("is the same for every route: nobody, a stranger, an agent, an approver", async () => {
    const { send, post, base } = await startServer()
    const statuses = async (path: string, body?: unknown) => {
      const as = async (role?: "agent" | "approver", headers: Record<string, string> = {}) => {
        const response = await (body === undefined
          ? send(path, role, { headers })
          : post(path, body, role, { headers }))
        await response.body?.cancel()
        return response.status
      }
      const stranger = { authorization: "Bearer wrong" }
      const nobody = body === undefined ? as() : as(undefined, { authorization: "" })
      return [await nobody, await as(undefined, stranger), await as("agent"), await as("approver")]
    }
    expect(await statuses("/healthz")).toEqual([200, 401, 200, 200])
    expect(await statuses("/v1/me")).toEqual([401, 401, 200, 200])
    expect(await statuses("/metrics")).toEqual([401, 401, 200, 200])
    expect(await statuses("/v1/workspaces")).toEqual([401, 401, 200, 200])
    for (const format of exportFormats) {
      expect(await statuses(`${base}/tools?format=${format}`)).toEqual([401, 401, 200, 200])
    }
    expect(await statuses(`${base}/calls`, { tool: "list_dir" })).toEqual([401, 401, 200, 200])
    expect(await statuses(`${base}/approvals`)).toEqual([401, 401, 403, 200])
    expect(await statuses(`${base}/approvals/x`, { approved: true })).toEqual([401, 401, 403, 404])
    expect(await statuses(`${base}/rules`)).toEqual([401, 401, 403, 200])
    expect(await statuses(`${base}/rules`, { tool: "*", decision: "allow" })).toEqual([401, 401, 403, 200])
    expect(await statuses(`${base}/simulations`, {})).toEqual([401, 401, 403, 200])
    expect(await statuses(`${base}/events`)).toEqual([401, 401, 403, 200])
    expect(await statuses(`${base}/runs`)).toEqual([401, 401, 403, 200])
    expect(await statuses("/v1/links", {})).toEqual([401, 401, 403, 200])
  })

  it("holds for a browser that came by a link, once, and for no other", async () => {
    const { server, send, post, base } = await startServer()
    const path = server.consoleLink().slice(server.url.length)
    expect((await send(path, undefined, { method: "HEAD" })).status).toBe(405)
    const login = await send(path)
    const key = /^\/#key=([\w-]{43})$/.exec(login.headers.get("location") ?? "")?.[1] ?? ""
    expect(login.status).toBe(303)
    const cookie = login.headers.get("set-cookie") ?? ""
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Path=\//)
    const headers = { cookie: cookie.split(";")[0] ?? "", "haft-session-key": key }
    expect(await (await send("/v1/me", undefined, { headers })).json()).toEqual({ name: "console", role: "approver" })
    // Another server of this host gets the cookie, but not the key.
    expect((await send("/v1/me", undefined, { headers: { cookie: headers.cookie } })).status).toBe(401)
    const stream = await send(`${base}/events`, undefined, { headers })
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
    expect((await send(`${base}/approvals`, undefined, { headers })).status).toBe(200)
    const fromElsewhere = { ...headers, origin: "http://evil.example" }
    expect((await send(`${base}/approvals`, undefined, { headers: fromElsewhere })).status).toBe(403)
    expect((await send(path)).status).toBe(403)
    expect((await send("/login?code=guess")).status).toBe(403)
    // In a browser the console says what to do.
    const followed = await send(path, undefined, { headers: { accept: "text/html,*/*" } })
    expect([followed.status, followed.headers.get("location"), followed.headers.get("set-cookie")]).toEqual([
      303,
      "/",
      null
    ])
    const { link } = (await (await post("/v1/links", {}, "approver")).json()) as { link: string }
    expect((await send(link.slice(server.url.length))).status).toBe(303)
  })

  it("is settled at each server of a host by itself: the login at one leaves the session at another alone", async () => {
    const servers = [await startServer(), await startServer()] as const
    // Cookies as browsers keep them: by host and name, but not by port.
    const jar = new Map<string, string>()
    const keys: Array<string> = []
    for (const { server, send } of servers) {
      const login = await send(server.consoleLink().slice(server.url.length))
      keys.push(login.headers.get("location")?.split("=")[1] ?? "")
      const [name = "", value = ""] = (login.headers.get("set-cookie") ?? "").split(";")[0]?.split("=") ?? []
      jar.set(name, value)
    }
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    for (const [place, { send }] of servers.entries()) {
      const headers = { cookie, "haft-session-key": keys[place] ?? "" }
      expect(await (await send("/v1/me", undefined, { headers })).json()).toMatchObject({ role: "approver" })
    }
  })
})

describe("dialects", () => {
  const calls = [
    ["agentbench", { tool: "run", params: { command: "id > pwn" } }],
    ["agentbench", { tool: "apply_patch", params: { unified_diff: "--- /dev/null\n+++ b/pwn\n@@ -0,0 +1 @@\n+x\n" } }],
    ["approvalgate", { tool: "run_code", params: { language: "bash", code: "id > pwn" } }],
    ["cliagent", { tool: "read_file", params: { path: "a.txt" } }]
  ] as const

  it.each(calls)("an agent can't call in %s unless it is granted: %j", async (dialect, body) => {
    const { post, base, workspace, call } = await startServer()
    for (const route of ["calls", "previews"]) {
      const response = await post(`${base}/${route}`, { ...body, dialect })
      expect([response.status, await response.json()]).toMatchObject([403, { error: { code: "dialect_not_allowed" } }])
    }
    expect(() => workspace.read("pwn")).toThrow("ENOENT")
    expect(await call("read_file", { path: "a.txt" })).toMatchObject({ ok: true })
  })

  it("are listed with the workspace, and those that are granted can be chosen", async () => {
    const { post, send, base } = await startServer({ dialect: "cliagent", alsoDialects: ["filetools"] })
    expect(await (await send("/v1/workspaces", "agent")).json()).toMatchObject({
      workspaces: [{ name: "default", dialect: "cliagent", dialects: ["cliagent", "filetools"] }]
    })
    const read = { dialect: "filetools", tool: "file.read", params: { path: "a.txt" } }
    expect((await post(`${base}/calls`, read)).status).toBe(200)
    expect((await send(`${base}/tools?dialect=haft`, "agent")).status).toBe(403)
    // A person undoes calls in haft's own dialect, whatever the agent speaks.
    expect((await post(`${base}/calls`, { dialect: "haft", tool: "list_dir" }, "approver")).status).toBe(200)
  })
})

describe("over a socket", () => {
  const refusal = { error: { code: expect.any(String), message: expect.any(String) } }
  it.each([
    ["another name", "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421],
    ["no name", "GET /healthz HTTP/1.0\r\n\r\n", 421],
    ["another name in the first line", "GET http://evil.example/healthz HTTP/1.1\r\nHost: HERE\r\n\r\n", 421],
    ["no name in the first line", "GET http://[:::/healthz HTTP/1.1\r\nHost: HERE\r\n\r\n", 421],
    ["its own name in the first line", "GET http://HERE/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200],
    ["two names", "GET /healthz HTTP/1.1\r\nHost: HERE\r\nHost: evil.example\r\n\r\n", 421],
    ["two lengths", "POST /mcp HTTP/1.1\r\nHost: HERE\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST /mcp HTTP/1.1\r\nHost: HERE\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400
    ],
    ["more than a token", "GET /v1/me HTTP/1.1\r\nHost: HERE\r\nAuthorization: Bearer TOKEN more\r\n\r\n", 401],
    ["two tokens", `GET /v1/me HTTP/1.1\r\nHost: HERE\r\n${"Authorization: Bearer TOKEN\r\n".repeat(2)}\r\n`, 401],
    ["another origin", "GET /healthz HTTP/1.1\r\nHost: HERE\r\nOrigin: http://evil.example\r\n\r\n", 403],
    ["a way out of the console", "GET /../../etc/passwd HTTP/1.1\r\nHost: HERE\r\n\r\n", 404],
    ["an escaped way out", "GET /%2e%2e/%2e%2e/etc/passwd.txt HTTP/1.1\r\nHost: HERE\r\n\r\n", 404],
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["more headers than anybody needs", `GET /healthz HTTP/1.1\r\nHost: HERE\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431]
  ])("%s gets its status", async (_what, text, status) => {
    const { server } = await startServer()
    const answer = await sendRaw(
      server.url,
      text.replace("HERE", new URL(server.url).host).replaceAll("TOKEN", tokens.agent)
    )
    expect(answer.split("\r\n")[0]).toContain(` ${status}`)
    const [head = "", body = ""] = answer.split("\r\n\r\n")
    expect(head).toContain("x-content-type-options: nosniff")
    expect(JSON.parse(body)).toMatchObject(status >= 400 ? refusal : { status: "ok" })
  })

  it("nonsense behind a request ends the connection, and puts no second answer into the first", async () => {
    const { server, base } = await startServer()
    const head = `Host: ${new URL(server.url).host}\r\nAuthorization: Bearer ${tokens.approver}\r\n\r\n`
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname, () => void socket.write(`GET ${base}/events HTTP/1.1\r\n${head}`))
    let heard = ""
    socket
      .on("error", () => {})
      .on("data", (chunk) => {
        if (heard === "") socket.write("nonsense\r\n\r\n")
        heard += chunk.toString()
      })
    await once(socket, "close")
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"])
    expect(heard).not.toContain("error")
  })

  it("idle connections beyond the limit are closed oldest first, and requests are answered", async () => {
    const { server, send } = await startServer({}, { limits: { connections: 20 } })
    const { hostname, port } = new URL(server.url)
    let closed = 0
    const idle = Array.from({ length: 60 }, () =>
      connect(Number(port), hostname)
        .on("error", () => {})
        .on("close", () => closed++)
    )
    await Promise.all(idle.map((socket) => once(socket, "connect")))
    expect((await send("/healthz")).status).toBe(200)
    await expect.poll(() => closed).toBeGreaterThanOrEqual(40)
    for (const socket of idle) socket.destroy()
  })

  it("a client that writes its whole request before it reads gets the refusal of a body that is too large", async () => {
    const { server, base } = await startServer()
    const { host, hostname, port } = new URL(server.url)
    const length = 30 * 1024 * 1024
    const head = `POST ${base}/calls HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens.agent}\r\n`
    for (const framing of [`Content-Length: ${length}`, "Transfer-Encoding: chunked"]) {
      const isChunked = framing.endsWith("chunked")
      const { promise: heard, resolve } = Promise.withResolvers<string>()
      const socket = connect(Number(port), hostname).pause()
      let text = ""
      socket.on("error", (error) => resolve(String(error))).on("close", () => resolve(text))
      socket.on("data", (chunk) => (text += chunk.toString())).pause()
      socket.write(`${head}Content-Type: application/json\r\n${framing}\r\n\r\n`)
      if (isChunked) socket.write(`${length.toString(16)}\r\n`)
      socket.write(Buffer.alloc(length, "x"))
      socket.write(isChunked ? "\r\n0\r\n\r\n" : "", () => socket.resume())
      expect(await heard).toMatch(/^HTTP\/1.1 413 [\s\S]*body_too_large/)
    }
  })

  it("a new connection is closed while all others have a request in flight", async () => {
    const { server, send, base } = await startServer({}, { limits: { connections: 2 } })
    const streams = [await send(`${base}/events`, "approver"), await send(`${base}/events`, "approver")]
    expect(await sendRaw(server.url, "GET /healthz HTTP/1.1\r\n\r\n", { end: false })).toBe("")
    for (const { body } of streams) await body?.cancel()
    await expect.poll(async () => (await send("/healthz").catch(() => undefined))?.status).toBe(200)
  })

  it("a client that never ends its headers, or its body, is dropped, and others do not notice", async () => {
    const { server, send } = await startServer(
      {},
      {
        limits: {
          headersMilliseconds: 200,
          requestMilliseconds: 400
        }
      }
    )
    const { host } = new URL(server.url)
    const slowHeaders = sendRaw(server.url, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX-Slow:`, { end: false })
    const head = `POST /v1/workspaces/default/calls HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens.agent}\r\n`
    const slowBody = sendRaw(
      server.url,
      `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"tool":`,
      { end: false }
    )
    expect((await send("/healthz")).status).toBe(200)
    expect(await slowHeaders).toMatch(/^(HTTP\/1.1 408|$)/)
    expect(await slowBody).toMatch(/^HTTP\/1.1 408/)
  })
})

it("lets a client go that takes nothing of its answers", async () => {
  const { server, send, workspace } = await startServer({}, { limits: { stalledMilliseconds: 1_000 } })
  workspace.put("large.txt", `${"x".repeat(99)}\n`.repeat(2_000))
  const { host, hostname, port } = new URL(server.url)
  const body = JSON.stringify({ tool: "read_file", params: { path: "large.txt" } })
  const head = `POST /v1/workspaces/default/calls HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens.agent}\r\n`
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const socket = connect(Number(port), hostname)
  socket.on("error", () => {})
  socket.pause().write(request.repeat(100))
  await expect.poll(async () => (await send("/metrics", "approver")).text()).toMatch(/^haft_calls_total.* [1-9]/m)
  await expect.poll(() => inFlight(send)).toBe(0)
  let size = 0
  socket.on("data", (chunk: Buffer) => (size += chunk.length)).resume()
  await new Promise((resolve) => socket.once("close", resolve))
  expect(size).toBeLessThan(100 * 200_000)
})

describe("a body", () => {
  it.each([
    ["no JSON", "{", 400, "invalid_json"],
    ["JSON with __proto__", '{"tool":"read_file","params":{"__proto__":{"path":"a.txt"}}}', 400, "invalid_json"],
    ["too large", `{"tool":"${"x".repeat(20_000)}"}`, 413, "body_too_large"],
    ["made of too many values", `{"tool":"x","params":[${"1,".repeat(2_000)}1]}`, 413, "too_many_values"],
    ["too deep", `{"tool":"read_file","params":${"[".repeat(500)}${"]".repeat(500)}}`, 400, "too_deep"],
    ["null", "null", 400, "invalid_request"]
  ])("that is %s is refused, for calls and for MCP", async (_what, body, status, code) => {
    const { post, base, defects } = await startServer(
      {},
      { limits: { body: { bytes: 10_000, values: 1_000, depth: 64 } } }
    )
    const response = await post(`${base}/calls`, {}, "agent", { body })
    expect([response.status, await response.json()]).toEqual([status, { error: { code, message: expect.any(String) } }])
    const overMcp = await post("/mcp", {}, "agent", {
      body,
      headers: { accept: "application/json, text/event-stream" }
    })
    expect(overMcp.status).toBe(status)
    expect(await overMcp.text()).not.toMatch(/\bat .*:\d+/)
    expect(defects).toEqual([])
  })
})

it("lists large questions without their bodies, and gives each in full by its id", async () => {
  const { post, send, base } = await startServer()
  const content = "x".repeat(2_000_000)
  const waiting = [1, 2, 3].map((n) => post(`${base}/calls`, { tool: "write_file", params: { path: `${n}`, content } }))
  const list = async () => (await send(`${base}/approvals`, "approver")).text()
  await expect.poll(async () => (JSON.parse(await list()) as { approvals: [] }).approvals).toHaveLength(3)
  const text = await list()
  expect(text.length).toBeLessThan(10_000)
  const [{ id }] = (JSON.parse(text) as { approvals: [{ id: string }] }).approvals
  const whole = await (await send(`${base}/approvals/${id}`, "approver")).json()
  expect(whole).toMatchObject({ id, args: { content } })
  expect((await send(`${base}/approvals/${id}`, "agent")).status).toBe(403)
  expect((await send(`${base}/approvals/nothing`, "approver")).status).toBe(404)
  const { approvals } = JSON.parse(text) as { approvals: ReadonlyArray<{ id: string }> }
  for (const request of approvals) await post(`${base}/approvals/${request.id}`, { approved: false }, "approver")
  await Promise.all(waiting)
})

it("answers 429 where too many questions of one client wait, and others are asked still", async () => {
  const { post, send, base } = await startServer({}, { limits: { calls: { perClient: 100, total: 200 } } })
  const write = (as: "agent" | "approver" = "agent") =>
    post(`${base}/calls`, { tool: "write_file", params: { path: "b", content: "" } }, as)
  const open = async () => ((await (await send(`${base}/approvals`, "approver")).json()) as { approvals: [] }).approvals
  const waiting = Array.from({ length: 50 }, () => write())
  await expect.poll(open, { timeout: 20_000 }).toHaveLength(50)
  const refused = await write()
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
    429,
    "5",
    { ok: false, error: { code: "approval_denied" } }
  ])
  expect((await write("approver")).status).toBe(200)
  for (const { id } of (await open()) as ReadonlyArray<{ id: string }>) {
    await post(`${base}/approvals/${id}`, { approved: false }, "approver")
  }
  await Promise.all(waiting)
})

it("takes no more than it can do: one client gets 429, all together 503, and health is still answered", async () => {
  const { post, send, base, workspace } = await startServer({}, { limits: { calls: { perClient: 2, total: 3 } } })
  const wait = () => post(`${base}/calls`, { tool: "write_file", params: { path: "b", content: "" } })
  const running = [wait(), wait()]
  const open = async () => ((await (await send(`${base}/approvals`, "approver")).json()) as { approvals: [] }).approvals
  await expect.poll(open).toHaveLength(2)
  const refused = await wait()
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
  // The approver is another client, with a limit of its own: one more call reaches the limit of the whole server.
  running.push(
    post(
      `${base}/calls`,
      { tool: "run_command", params: { command: "until [ -e open ]; do sleep 0.05; done" } },
      "approver"
    )
  )
  await expect.poll(() => inFlight(send)).toBe(3)
  const look = { tool: "write_file", params: { path: "b", content: "" } }
  expect((await post(`${base}/previews`, look)).status).toBe(429)
  const busy = await post(`${base}/calls`, { tool: "list_dir" }, "approver")
  expect([busy.status, busy.headers.get("retry-after"), await busy.json()]).toMatchObject([
    503,
    "1",
    { error: { code: "busy" } }
  ])
  expect((await send("/healthz")).status).toBe(200)
  workspace.put("open", "")
  for (const { id } of (await open()) as Array<{ id: string }>) {
    expect((await post(`${base}/approvals/${id}`, { approved: false }, "approver")).status).toBe(200)
  }
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
})

it("POST calls answers with content blocks where the caller asks for them", async () => {
  const { workspace, post, base } = await startServer()
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
    "base64"
  )
  workspace.put("a.png", png)
  const call = { tool: "read_file", params: { path: "a.png" } }
  const blocks = await (await post(`${base}/calls`, { ...call, blocks: true }, "agent")).json()
  expect(blocks).toMatchObject({
    reply: { ok: true, result: { media_type: "image/png" } },
    blocks: [{ type: "text" }, { type: "image", mimeType: "image/png", data: png.toString("base64") }]
  })
  expect(await (await post(`${base}/calls`, call, "agent")).json()).toMatchObject({ ok: true })
})
