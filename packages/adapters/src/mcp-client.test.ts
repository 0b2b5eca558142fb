import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import { Host, memoryJournal, memoryWorkspace, type JournalEvent } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { InMemoryTransport, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client"
import * as Layer from "effect/Layer"

import { askTheCaller, openWordsHost, plain } from "../test/words-host.ts"
import { mcpPlugin } from "./mcp-client.ts"
import { mcpServer } from "./mcp/index.ts"
import { lintTool } from "./schemas/lint-schema.ts"

let remote: OpenHost
let remoteEvents: Array<JournalEvent>
let local: OpenHost
const localEvents: Array<JournalEvent> = []

beforeEach(async () => {
  const opened = await openWordsHost()
  remote = opened.host
  remoteEvents = opened.events
  localEvents.length = 0
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await mcpServer(remote, { version: "1" })().connect(serverSide)
  const plugin = await mcpPlugin({ name: "far", transport: clientSide, trustHints: true })
  local = await openHost(
    Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(localEvents), askTheCaller))
    )
  )
})
afterEach(async () => {
  await local.dispose()
  await remote.dispose()
})

it("brings another server's tools in, with their schemas and what they say about themselves", () => {
  expect(local.tools.map(({ name, risk, plugin }) => ({ name, risk, plugin }))).toEqual([
    { name: "far_word_shout", risk: "read_only", plugin: "mcp:far" },
    { name: "far_save", risk: "dangerous", plugin: "mcp:far" },
    { name: "far_steps", risk: "read_only", plugin: "mcp:far" }
  ])
  expect(local.tools[0]?.inputSchema).toMatchObject({
    properties: { word: { type: "string", description: "What to say" } },
    required: ["word"],
    additionalProperties: false
  })
})

it("sends calls down the road here, approved and on record, before they go out", async () => {
  expect(await local.call("far_word_shout", { word: "hi" })).toMatchObject({
    ok: true,
    text: "HI!",
    wire: { output: { structured: { ok: true, output: { said: "HI" } } } }
  })
  expect(await local.call("far_save", { path: "a", content: "" })).toMatchObject({ error: { code: "approval_denied" } })
  expect(await local.call("far_word_shout", { word: 1 })).toMatchObject({ error: { code: "invalid_params" } })
  expect(localEvents.filter(({ type }) => type === "tool_call_finished")).toHaveLength(3)
  expect(remoteEvents.filter(({ type }) => type === "tool_call_finished")).toHaveLength(1)
})

it("reports what fails there as a failure here, and a server that is gone as such", async () => {
  const ask = async () => ({ approved: true })
  const reply = await local.call("far_save", { path: "a", content: "" }, { ask })
  expect(reply).toMatchObject({ ok: false, error: { code: "command_failed", details: { server: "far" } } })
  expect(reply.error?.message).toContain("approval")
})

it("passes progress on and interrupts what runs there", async () => {
  const controller = new AbortController()
  const call = local.call(
    "far_steps",
    { wait: true },
    { signal: controller.signal, onProgress: () => controller.abort(new Error("enough")) }
  )
  await expect(call).rejects.toThrow("enough")
  await expect.poll(() => remoteEvents.at(-1)).toMatchObject({ error: "cancelled" })
})

/** A scripted server on the raw protocol: `answer` gives its results, or undefined for none. */
const serverThat = (
  answer: (method: string, params: Record<string, unknown>) => object | undefined,
  onclose = () => {}
): Transport => {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const onmessage = (message: JSONRPCMessage): void => {
    if (!("method" in message) || !("id" in message)) return
    const said = answer(message.method, message.params ?? {}) ?? hello[message.method]
    if (said === undefined) return
    const isResult = !("error" in said)
    void serverSide.send({ jsonrpc: "2.0", id: message.id, ...(isResult ? { result: said } : said) } as JSONRPCMessage)
  }
  Object.assign(serverSide, { onclose, onmessage })
  void serverSide.start()
  return clientSide
}

const hello: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "odd", version: "1.0.0" }
  },
  "server/discover": { error: { code: -32601, message: "unknown" } }
}

const oddTool = (name: string, inputSchema: object = { type: "object", properties: {} }, more: object = {}) => ({
  name,
  description: name,
  inputSchema,
  ...more
})

const openOdd = async (transport: Transport, timeoutMs = 60_000): Promise<OpenHost> => {
  const plugin = await mcpPlugin({ name: "odd", transport, timeoutMs })
  return openHost(
    Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal([]), askTheCaller))
    )
  )
}

const callOdd = async (host: OpenHost, args: object = {}) =>
  host.call("odd_x", args, { ask: async () => ({ approved: true }) })

it("keeps the paths that its owner names inside the workspace, before anything goes out", async () => {
  const sent: Array<unknown> = []
  const transport = serverThat((method, params) => {
    if (method === "tools/list") return { tools: [oddTool("x", { type: "object", properties: { to: {} } })] }
    if (method === "tools/call") sent.push(params["arguments"])
    return method === "tools/call" ? { content: [] } : undefined
  })
  const plugin = await mcpPlugin({ name: "odd", transport, touches: (_tool, { to }) => ({ writes: [String(to)] }) })
  await using host = await openHost(
    Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal([]), askTheCaller))
    )
  )
  expect((await callOdd(host, { to: "../elsewhere" })).error?.code).toBe("path_outside_workspace")
  expect((await host.preview("odd_x", { to: "here.txt" })).facts.writes).toMatchObject([{ path: "here.txt" }])
  expect((await callOdd(host, { to: "here.txt" })).ok).toBe(true)
  expect(sent).toEqual([{ to: "here.txt" }])
})

const withOutput = oddTool("x", undefined, {
  outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
})

it.each([
  [
    "refuses",
    oddTool("x"),
    { error: { code: -32602, message: "not like that" } },
    "command_failed",
    "odd refused: not"
  ],
  ["lies about its output", withOutput, { content: [], structuredContent: { n: "x" } }, "command_failed", "match"],
  ["babbles", oddTool("x"), { content: [{ type: "odd" }] }, "command_failed", "can't be understood"],
  ["says nothing", oddTool("x"), undefined, "timeout", "odd did not answer in time"]
])("tells a server that %s from one that is gone", async (_, tool, answer, code, message) => {
  const transport = serverThat((method) => {
    if (method === "tools/list") return { tools: [tool] }
    return method === "tools/call" ? answer : undefined
  })
  await using host = await openOdd(transport, 200)
  expect((await callOdd(host)).error).toMatchObject({ code, message: expect.stringContaining(message) as string })
  await transport.close()
  expect((await callOdd(host)).error).toMatchObject({
    code: "network_error",
    message: expect.stringContaining("odd is gone") as string
  })
})

it("takes a tool whose parameters can't be read, and checks the ones that can", async () => {
  const properties = {
    known: { type: "number", description: "A number" },
    odd: { type: "strnig", description: "Odd" },
    lost: { $ref: "#/$defs/nowhere" },
    pattern: { type: "string", pattern: "^(a+)+$" }
  }
  const transport = serverThat((method, params) => {
    if (method === "tools/list") return { tools: [oddTool("x", { type: "object", properties, required: ["known"] })] }
    return method === "tools/call"
      ? { content: [{ type: "text", text: JSON.stringify(params["arguments"]) }] }
      : undefined
  })
  await using host = await openOdd(transport)
  expect(host.tools[0]?.inputSchema).toMatchObject({
    properties: {
      known: { type: "number", description: "A number" },
      odd: { description: "Odd" },
      // The pattern is only described and never run: matching it would take for ever.
      pattern: { type: "string", description: "Pattern: ^(a+)+$" }
    },
    required: ["known"]
  })
  const args = { known: 1, odd: [1], lost: 2, pattern: `${"a".repeat(40)}!` }
  expect(JSON.parse((await callOdd(host, args)).text)).toEqual(args)
  expect((await callOdd(host, { known: "1" })).error).toMatchObject({ code: "invalid_params" })
})

it("brings in nothing that a model's API would refuse", async () => {
  const properties = {
    level: { enum: [1, 2], description: "How much" },
    list: { type: "array" },
    pair: { type: "array", prefixItems: [{ type: "string" }] }
  }
  const transport = serverThat((method, params) => {
    if (method === "tools/list") return { tools: [oddTool("x/y z", { type: "object", properties }), oddTool("x_y_z")] }
    return method === "tools/call" ? { content: [{ type: "text", text: String(params["name"]) }] } : undefined
  })
  await using host = await openOdd(transport)
  expect(host.tools.map(({ name }) => name)).toEqual(["odd_x_y_z_2", "odd_x_y_z"])
  for (const { name, inputSchema } of host.tools) {
    for (const reader of ["openai", "anthropic", "gemini"] as const) {
      expect(lintTool({ name, parameters: inputSchema }, reader)).toEqual([])
    }
  }
  const { text } = await host.call("odd_x_y_z_2", { level: 1 }, { ask: async () => ({ approved: true }) })
  expect(text).toBe("x/y z")
})

it("shows the beginning and the end of an answer that is too long", async () => {
  const long = `begin${"-".repeat(1_000_000)}end`
  const transport = serverThat((method) => {
    if (method === "tools/list") return { tools: [oddTool("x")] }
    return method === "tools/call"
      ? { content: [{ type: "text", text: long }], structuredContent: { long } }
      : undefined
  })
  await using host = await openOdd(transport)
  const { text, wire } = await callOdd(host)
  expect([text.slice(0, 6), text.slice(-4)]).toEqual(["begin-", "-end"])
  expect(JSON.stringify(wire).length).toBeLessThan(300_000)
})

it("shows as much of a refusal, and no more", async () => {
  const transport = serverThat((method) => {
    if (method === "tools/list") return { tools: [oddTool("x")] }
    return method === "tools/call" ? { error: { code: -32603, message: `no${"-".repeat(1_000_000)}` } } : undefined
  })
  await using host = await openOdd(transport)
  const { text } = await callOdd(host)
  expect(text).toContain("odd refused: no-")
  expect(text.length).toBeLessThan(20_000)
})

it("leaves out blocks that are too large or too many, and passes on what is said beside them", async () => {
  const image = { type: "image", mimeType: "image/png", data: "A".repeat(2_000_000) }
  const words = Array.from({ length: 1_998 }, () => ({ type: "text", text: "word" }))
  const content = [image, { type: "text", text: "a picture" }, ...words]
  const transport = serverThat((method) => {
    if (method === "tools/list") return { tools: [oddTool("x")] }
    return method === "tools/call" ? { content } : undefined
  })
  await using host = await openOdd(transport)
  const { wire } = (await callOdd(host)) as { wire: { output: { content: Array<object> } } }
  const shown = wire.output.content
  expect(shown).toHaveLength(1_001)
  expect([...shown.slice(0, 3), shown.at(-1)]).toEqual([
    { type: "image", omitted: "2000049 bytes" },
    { type: "text", text: "a picture" },
    { type: "text", text: "word" },
    { type: "text", text: "… and 1000 more blocks, left out" }
  ])
})

it.each([
  ["two tools of one name", { tools: [oddTool("x"), oddTool("x")] }, "it has two tools 'x'"],
  ["no list", { error: { code: -32000, message: "not today" } }, "not today"]
])("lets go of a server with %s, and names it", async (_, list, problem) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport = serverThat((method) => (method === "tools/list" ? list : undefined), resolve)
  await expect(mcpPlugin({ name: "odd", transport })).rejects.toThrow(
    `plugin mcp:odd: its server can't be used: ${problem}`
  )
  await closed
})
