import { connect } from "node:net"
import { inspect } from "node:util"

import * as fc from "fast-check"

import { type Attack, forSeconds, none } from "../attack.ts"
import { type RunningServer, startServer } from "../running-server.ts"

const base = "/v1/workspaces/default"
const call = { tool: "read_file", params: { path: "a.txt" }, dialect: "haft" }
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "stress", version: "0" } }
}
const toolCall = {
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "read_file", arguments: { path: "a.txt" } }
}

const requests: ReadonlyArray<{ readonly path: string; readonly as: "agent" | "approver"; readonly body: unknown }> = [
  { path: `${base}/calls`, as: "agent", body: call },
  { path: `${base}/previews`, as: "agent", body: call },
  { path: `${base}/rules`, as: "approver", body: { id: "x", tool: "read_file", decision: "allow" } },
  { path: `${base}/approvals/none`, as: "approver", body: { approved: true, modifiedArgs: { path: "b" } } },
  { path: `${base}/simulations`, as: "approver", body: {} },
  { path: "/mcp", as: "agent", body: initialize },
  { path: "/mcp", as: "agent", body: toolCall },
  { path: "/mcp", as: "agent", body: [initialize, toolCall] },
  { path: "/mcp", as: "agent", body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } } }
]

const atOnce = 8

/** Sends mutations of valid HTTP requests and MCP messages. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const server = await startServer({ approval: "none", sandbox: "none" })
  const problems: Array<string> = []
  process.on("uncaughtException", (error) => problems.push(`uncaught exception: ${inspect(error)}`))
  process.on("unhandledRejection", (error) => problems.push(`unhandled rejection: ${inspect(error)}`))
  let made: Array<Mutated> = []
  let count = 0
  const tryOne = async (): Promise<void> => {
    if (made.length === 0) made = fc.sample(mutated, { seed: seed + count, numRuns: 50 })
    const one = made.pop()
    if (one === undefined) return
    const isTurnOfHealth = count++ % 100 === 0
    const answer = one.raw === undefined ? await send(server, one) : await sendRaw(server, one.raw)
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
    if (status >= 500 && status !== 503)
      problems.push(`${status} for ${inspect(one).slice(0, 600)}: ${answer.slice(-200)}`)
    if (/\bat .*\.ts:\d+|node_modules/.test(answer)) problems.push(`a stack trace for ${inspect(one).slice(0, 600)}`)
    if (isTurnOfHealth && (await server.health()) > 5000) problems.push("the server does not answer")
  }
  // Many at once, because for a message that is cut off it takes a while to see that no answer comes.
  await Promise.all(Array.from({ length: atOnce }, () => forSeconds(seconds, tryOne)))
  const well = await server.call("read_file", { path: "a.txt" })
  if (well.status !== 200) problems.push(`afterwards a call is answered with ${well.status}`)
  problems.push(...server.defects.map((defect) => `a defect: ${inspect(defect).slice(0, 600)}`))
  yield none("mutated HTTP and MCP messages that end in a bug", `${count} messages`, problems)
  await server.stop()
}

interface Mutated {
  readonly method: string
  readonly path: string
  readonly as: "agent" | "approver"
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly raw?: string | undefined
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, 0, -1, 1e308, "", "\u0000", [], {}, [[]], true, "x".repeat(10_000), { __proto__: 1 }),
  fc.jsonValue({ maxDepth: 2 })
)

const bodies = fc
  .tuple(fc.constantFrom(...requests), fc.nat(), odd, fc.integer({ min: 0, max: 5 }))
  .map(([request, at, value, how]) => {
    const text = JSON.stringify(request.body)
    const cut = at % (text.length + 1)
    const body = [
      text.slice(0, cut),
      text.slice(0, cut) + JSON.stringify(value) + text.slice(cut),
      JSON.stringify(replacedAt(request.body, at, value)),
      JSON.stringify(value),
      `${"[".repeat(at % 100_000)}1`,
      text.replaceAll('"', at % 2 === 0 ? "'" : '"\u0000')
    ][how]
    return { path: request.path, as: request.as, body: body ?? "" }
  })

/** Copy of a value with another one at one place inside. */
const replacedAt = (value: unknown, at: number, other: unknown): unknown => {
  if (typeof value !== "object" || value === null) return other
  const keys = Object.keys(value)
  const key = keys[at % keys.length]
  if (key === undefined) return other
  const inner = replacedAt((value as Record<string, unknown>)[key], Math.floor(at / keys.length), other)
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...value, [key]: inner }
}

const headers = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "accept",
    "mcp-session-id",
    "mcp-protocol-version",
    "last-event-id",
    "origin",
    "host",
    "content-length",
    "transfer-encoding",
    "expect",
    "cookie",
    "traceparent"
  ),
  fc.oneof(
    fc.constantFrom(
      "application/json",
      "text/event-stream",
      "application/json, text/event-stream",
      "null",
      "0",
      "-1",
      "chunked",
      "100-continue",
      "99999999999",
      "x".repeat(20_000)
    ),
    fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "?"))
  ),
  { maxKeys: 3 }
)

const raw = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constantFrom("GET", "POST", "BREW", "PRI * HTTP/2.0").chain((method) =>
    fc.tuple(fc.string({ maxLength: 60 }), headers).map(
      ([path, fields]) =>
        `${method} /${path} HTTP/1.1\r\n${Object.entries(fields)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join("")}\r\n{}`
    )
  )
)

const mutated: fc.Arbitrary<Mutated> = fc
  .tuple(
    bodies,
    headers,
    fc.constantFrom("POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS"),
    fc.option(raw, { freq: 4, nil: undefined })
  )
  .map(([{ path, as, body }, headers, method, raw]) => ({ path, as, body, headers, method, raw }))

const send = (server: RunningServer, { method, path, as, body, headers }: Mutated): Promise<string> => {
  const fields = {
    host: new URL(server.url).host,
    connection: "close",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
    ...server.headers(as),
    ...headers
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendRaw(server, `${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n${body}`)
}

/** Sends raw text over a socket; resolves with what came back, after a moment if the server waits for more. */
const sendRaw = ({ url }: RunningServer, text: string): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname, () => void socket.write(text))
  let heard = ""
  socket.setTimeout(300, () => socket.destroy())
  socket.on("data", (chunk) => void (heard += chunk.toString()))
  socket.on("error", () => {})
  socket.on("close", () => resolve(heard))
  return promise
}
