import { makeToken } from "haft/internal"
import { describe, expect, it } from "vitest"
import * as z from "zod"

import { gatekeeper } from "../identity.ts"
import { json } from "./answer.ts"
import { flowControl } from "./flow-control.ts"
import { openapiOf } from "./openapi/openapi.ts"
import { requestHandler } from "./request-handler.ts"
import { defineRoute } from "./route.ts"
import { hostNames } from "./same-origin.ts"

const routes = [
  defineRoute({
    method: "GET",
    path: "/hello/{name}",
    summary: "Greets",
    access: "public",
    query: z.strictObject({ loud: z.enum(["yes", "no"]).default("no") }),
    replies: { 200: { description: "A greeting", schema: z.object({ text: z.string() }) } },
    handle: ({ path, query }) => json({ text: `hello ${path["name"]}${query.loud === "yes" ? "!" : ""}` })
  }),
  defineRoute({
    method: "GET",
    path: "/files/{path…}",
    summary: "A file",
    access: "public",
    replies: { 200: { description: "Its path", contentTypes: ["text/plain"] } },
    handle: ({ path }) => ({ body: path["path"] ?? "" })
  }),
  defineRoute({
    method: "POST",
    path: "/calls",
    summary: "Works",
    access: "agent",
    isWork: true,
    body: z.strictObject({ tool: z.string(), params: z.record(z.string(), z.unknown()).default({}) }),
    replies: { 200: { description: "Done", schema: z.object({ tool: z.string() }) } },
    handle: async ({ body, identity }) => {
      if (body.tool === "bug") throw new Error("secret path /etc/x")
      await work
      return json({ tool: body.tool, role: identity?.role })
    }
  }),
  defineRoute({
    method: "POST",
    path: "/approve",
    summary: "Decides",
    access: "approver",
    body: z.strictObject({}),
    replies: { 200: { description: "Decided" } },
    handle: () => json({})
  })
]
let work: Promise<void> = Promise.resolve()

const setup = () => {
  const tokens = { agent: makeToken(), approver: makeToken() }
  const keeper = gatekeeper(tokens)
  const defects: Array<unknown> = []
  const flow = flowControl({ perClient: 2, total: 3 })
  const handle = requestHandler({
    routes,
    gatekeeper: keeper,
    allowedHosts: () => hostNames("127.0.0.1", 4711),
    flow,
    arrivals: () => ({ turn: () => undefined }),
    bodyLimits: { bytes: 1000, values: 100, depth: 5 },
    onDefect: (error) => defects.push(error)
  })
  const send = async (
    path: string,
    { headers = {}, ...init }: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}
  ) => {
    const request = new Request(`http://127.0.0.1:4711${path}`, {
      ...init,
      headers: { host: "127.0.0.1:4711", ...headers }
    })
    const { status, headers: answered, body, onSent } = await handle(request)
    onSent?.()
    const response = new Response(body, { status: status ?? 200, headers: answered ?? {} })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as unknown }
  }
  const post = (path: string, body: unknown, token?: string, headers: Record<string, string> = {}) =>
    send(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers
      }
    })
  return { tokens, keeper, defects, flow, send, post }
}

describe("a request", () => {
  it("finds its route, its path and its query", async () => {
    const { send } = setup()
    expect((await send("/hello/A%20da?loud=yes")).json()).toEqual({ text: "hello A da!" })
    expect((await send("/files/a/b%2Fc")).text).toBe("a/b/c")
  })

  it.each([
    ["/nowhere", "GET", 404, "not_found"],
    ["/hello/", "GET", 404, "not_found"],
    ["/hello/Ada", "DELETE", 405, "method_not_allowed"],
    ["/hello/%E0%A4%A", "GET", 400, "invalid_request"],
    ["/hello/Ada?loud=maybe", "GET", 400, "invalid_request"],
    ["/hello/Ada?quiet=1", "GET", 400, "invalid_request"]
  ])("%s by %s is refused with %d", async (path, method, status, code) => {
    const { send } = setup()
    const reply = await send(path, { method })
    expect([reply.status, reply.json()]).toEqual([status, { error: { code, message: expect.any(String) } }])
  })
})

describe("names and origins", () => {
  it.each([
    [{ host: "evil.example:4711" }, 421],
    [{ host: "127.0.0.1:9999" }, 421],
    [{ origin: "http://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://127.0.0.1:4712" }, 403],
    [{ origin: "http://localhost:4711" }, 200],
    [{ host: "LOCALHOST:4711" }, 200],
    [{ host: "[::1]:4711" }, 200]
  ])("%j gets %d", async (headers, status) => {
    const { send } = setup()
    expect((await send("/hello/Ada", { headers })).status).toBe(status)
  })
})

it("names are known with and without the port that goes without saying", () => {
  const names = hostNames("127.0.0.1", 4711, { also: ["Haft.example:443", "other.example", "third.example:8443"] })
  const known = ["haft.example", "haft.example:443", "other.example", "third.example:8443", "third.example"]
  expect(known.filter((name) => names.has(name))).toEqual(known.slice(0, -1))
})

describe("tokens", () => {
  it("let an agent work and only an approver decide", async () => {
    const { post, tokens } = setup()
    expect((await post("/calls", { tool: "x" })).status).toBe(401)
    expect((await post("/calls", { tool: "x" }, "wrong")).status).toBe(401)
    expect((await post("/calls", { tool: "x" }, undefined, { authorization: "Basic abc" })).status).toBe(401)
    expect((await post("/calls", { tool: "x" }, tokens.agent)).json()).toEqual({ tool: "x", role: "agent" })
    expect((await post("/approve", {}, tokens.agent)).status).toBe(403)
    expect((await post("/approve", {}, tokens.approver)).status).toBe(200)
    expect((await post("/calls", { tool: "x" }, tokens.approver)).status).toBe(200)
  })

  it("can be had for a browser by a link that works once", async () => {
    const { keeper, post } = setup()
    const code = keeper.makeLink()
    const here = new Request("http://127.0.0.1:4711/login", { headers: { host: "127.0.0.1:4711" } })
    const { cookie, key } = await keeper.redeemLink(code, here)
    expect(cookie).toMatch(/^haft_session_4711=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\//)
    const own = `other=1; ${cookie.split(";")[0]}`
    const statusWith = async (headers: Record<string, string>) =>
      (await post("/approve", {}, undefined, headers)).status
    expect(await statusWith({ cookie: own, "haft-session-key": key })).toBe(200)
    // Other servers of the host get the cookie, too.
    expect(await statusWith({ cookie: own })).toBe(401)
    expect(await statusWith({ cookie: own, "haft-session-key": "made-up" })).toBe(401)
    expect(await statusWith({ cookie: "haft_session_4711=made-up", "haft-session-key": key })).toBe(401)
    await expect(keeper.redeemLink(code, here)).rejects.toThrow("This link has been used or is too old")
  })

  it("run out", async () => {
    let now = 0
    const keeper = gatekeeper({ agent: makeToken(), approver: makeToken() }, {}, () => now)
    const [late, early] = [keeper.makeLink(), keeper.makeLink()]
    const { cookie, key } = await keeper.redeemLink(early, new Request("http://x/"))
    const request = () =>
      new Request("http://x/", { headers: { cookie: cookie.split(";")[0] ?? "", "haft-session-key": key } })
    expect(await keeper.identify(request())).toMatchObject({ role: "approver", name: "console" })
    now = 11 * 60_000
    await expect(keeper.redeemLink(late, request())).rejects.toThrow("too old")
    now = 13 * 60 * 60_000
    expect(await keeper.identify(request())).toBe(undefined)
  })

  it.each(["", "a", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "with a blank in the middle of it"])(
    "that are weak are refused: %j",
    (agent) => {
      expect(() => gatekeeper({ agent })).toThrow("too weak")
    }
  )
})

describe("a body", () => {
  it.each([
    ["{", {}, 400, "invalid_json"],
    ['{"tool":"x","__proto__":{"admin":true}}', {}, 400, "invalid_json"],
    [String.raw`{"tool":"x","params":{"\u005f_proto__":{}}}`, {}, 400, "invalid_json"],
    ['{"tool":"x","params":{"a":{"b":{"c":{"d":{}}}}}}', {}, 400, "too_deep"],
    [`{"tool":"${"x".repeat(2000)}"}`, {}, 413, "body_too_large"],
    [`[${"0,".repeat(200)}0]`, {}, 413, "too_many_values"],
    ['{"tool":1}', {}, 400, "invalid_request"],
    ['{"tool":"x","more":1}', {}, 400, "invalid_request"],
    ["[]", {}, 400, "invalid_request"],
    ['{"tool":"x"}', { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ['{"tool":"x"}', { "content-encoding": "gzip" }, 415, "unsupported_encoding"]
  ])("%s with %j gets %d %s", async (body, headers, status, code) => {
    const { post, tokens } = setup()
    const reply = await post("/calls", body, tokens.agent, headers)
    expect([reply.status, reply.json()]).toEqual([status, { error: { code, message: expect.any(String) } }])
  })

  it("that does not end, breaks off or is no text, is refused within bounds", async () => {
    const { send, tokens } = setup()
    const sendStream = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | PromiseLike<void>) =>
      send("/calls", {
        method: "POST",
        body: new ReadableStream({ pull }),
        duplex: "half",
        headers: { "content-type": "application/json", authorization: `Bearer ${tokens.agent}` }
      })
    expect((await sendStream((controller) => controller.enqueue(new Uint8Array(100)))).status).toBe(413)
    expect((await sendStream((controller) => controller.error(new Error("gone")))).status).toBe(400)
    const binary = await sendStream((controller) => {
      controller.enqueue(Uint8Array.of(0xff, 0xfe))
      controller.close()
    })
    expect(binary.json()).toMatchObject({ error: { code: "invalid_json" } })
  })
})

describe("work", () => {
  it("is refused when a client, or all of them, have enough in flight, and when the server stops", async () => {
    const { post, tokens, flow } = setup()
    const { promise, resolve } = Promise.withResolvers<void>()
    work = promise
    const call = (token: string) => post("/calls", { tool: "x" }, token)
    const running = [call(tokens.agent), call(tokens.agent), call(tokens.approver)]
    await expect.poll(flow.inFlight).toBe(3)
    const tooMany = await call(tokens.agent)
    expect([tooMany.status, tooMany.headers.get("retry-after")]).toEqual([429, "1"])
    expect((await call(tokens.approver)).status).toBe(503)
    flow.stop()
    resolve()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
    await flow.idle()
    expect((await call(tokens.agent)).json()).toMatchObject({ error: { code: "stopping" } })
    work = Promise.resolve()
  })

  it("that meets a bug shows nothing of it to the client", async () => {
    const { post, tokens, defects } = setup()
    const reply = await post("/calls", { tool: "bug" }, tokens.agent)
    expect(reply.status).toBe(500)
    expect(reply.text).not.toContain("secret")
    expect(defects).toHaveLength(1)
  })
})

it("is described by a document made from the same table", () => {
  const document = openapiOf(routes, "1.2.3") as { paths: Record<string, Record<string, object>> }
  expect(Object.keys(document.paths)).toEqual(["/hello/{name}", "/files/{path}", "/calls", "/approve"])
  expect(document.paths["/hello/{name}"]?.["get"]).toMatchObject({
    operationId: "get_hello_name",
    parameters: [
      { name: "name", in: "path", required: true },
      { name: "loud", in: "query", required: false, schema: { enum: ["yes", "no"], default: "no" } }
    ]
  })
  expect(document.paths["/calls"]?.["post"]).toMatchObject({
    security: [{ agent: [] }, { approver: [] }],
    requestBody: { content: { "application/json": { schema: { required: ["tool"], additionalProperties: false } } } }
  })
})
