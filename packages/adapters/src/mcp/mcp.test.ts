import { PassThrough } from "node:stream"

import { afterEach, describe, expect, it } from "@effect/vitest"
import { Client, type ClientOptions, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"

import { openWordsHost } from "../../test/words-host.ts"
import { mcpFetchHandler, type McpServerFactory, mcpServer, serveMcpOnStdio } from "./index.ts"

const cleanups: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const startServer = async () => {
  const { host, events } = await openWordsHost()
  cleanups.push(host.dispose)
  const factory = mcpServer(host, { version: "1.2.3", howToAllow: "Start it with --approve all." })
  return { events, factory }
}

const transports: Record<string, (factory: McpServerFactory) => Transport> = {
  stdio: (factory) => {
    const input = new PassThrough()
    const output = new PassThrough()
    const { close } = serveMcpOnStdio(factory, { input, output })
    cleanups.push(close)
    return overStreams(output, input)
  },
  http: (factory) => {
    const handler = mcpFetchHandler(factory)
    cleanups.push(handler.close)
    return new StreamableHTTPClientTransport(new URL("http://haft.test/mcp"), {
      fetch: (url, init) => handler.fetch(new Request(url, init))
    })
  }
}

// The official client's stdio transport starts a process; this one speaks the same lines over two streams.
const overStreams = (from: PassThrough, to: PassThrough): Transport => {
  let rest = ""
  const transport: Transport = {
    start: async () => {
      from.on("data", (chunk: Buffer) => {
        const lines = `${rest}${chunk.toString()}`.split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) transport.onmessage?.(JSON.parse(line))
      })
    },
    send: async (message) => void to.write(`${JSON.stringify(message)}\n`),
    close: async () => void to.end()
  }
  return transport
}

const eras = { "2025-11-25": { mode: "legacy" }, "2026-07-28": { mode: { pin: "2026-07-28" } } } as const
const quadrants = Object.keys(transports).flatMap((transport) =>
  Object.keys(eras).map((era) => ({ transport, era: era as keyof typeof eras }))
)

const connect = async (
  { transport, era }: (typeof quadrants)[number],
  { capabilities = {} }: Pick<ClientOptions, "capabilities"> = {}
) => {
  const { events, factory } = await startServer()
  const client = new Client({ name: "test", version: "0" }, { capabilities, versionNegotiation: eras[era] })
  await client.connect(transports[transport]!(factory))
  cleanups.push(() => client.close())
  return { client, events }
}

describe.each(quadrants)("MCP $era over $transport", (quadrant) => {
  it("negotiates the version and lists the tools with schemas and hints, in the host's order", async () => {
    const { client } = await connect(quadrant)
    expect(client.getNegotiatedProtocolVersion()).toBe(quadrant.era)
    expect(client.getServerVersion()).toMatchObject({ name: "haft", version: "1.2.3" })
    expect(client.getInstructions()).toContain("Relative paths begin at the root of the workspace")
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: false } })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(["word_shout", "save", "steps"])
    expect(tools.map(({ title }) => title)).toEqual(["Word shout", "Save", "Steps"])
    expect(tools[0]).toMatchObject({
      description: "Says a word loudly.",
      inputSchema: {
        type: "object",
        properties: { word: { type: "string", description: "What to say" } },
        required: ["word"],
        additionalProperties: false
      },
      outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
      annotations: {
        title: "Word shout",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      }
    })
    expect(tools[1]?.annotations).toEqual({
      title: "Save",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: true
    })
  })

  it.each(["word_shout", "word.shout"])("answers a call of %s with envelope and text", async (name) => {
    const { client } = await connect(quadrant)
    expect(await client.callTool({ name, arguments: { word: "hi" } })).toMatchObject({
      content: [{ type: "text", text: "HI!" }],
      structuredContent: { ok: true, output: { said: "HI" } },
      isError: false
    })
  })

  it("records calls with bad input and of unknown tools; an unknown tool is a protocol error", async () => {
    const { client, events } = await connect(quadrant)
    expect(await client.callTool({ name: "word_shout", arguments: { word: 1, loud: true } })).toMatchObject({
      structuredContent: { ok: false, error: "invalid_params" },
      isError: true
    })
    expect(await client.callTool({ name: "word_shout" })).toMatchObject({ structuredContent: { ok: false } })
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool: "nothing". Available: word_shout, save, steps')
    })
    expect(events.filter(({ type }) => type === "tool_call_finished").map(({ error }) => error)).toEqual([
      "invalid_params",
      "invalid_params",
      "unknown_tool"
    ])
  })

  it("passes progress on", async () => {
    const { client } = await connect(quadrant)
    const heard: Array<unknown> = []
    await client.callTool({ name: "steps", arguments: {} }, { onprogress: (progress) => heard.push(progress) })
    expect(heard).toEqual([
      { progress: 1, total: 2, message: "one" },
      { progress: 2, total: 2, message: "two" }
    ])
  })

  it("interrupts a call that the client cancels", async () => {
    const { client, events } = await connect(quadrant)
    const controller = new AbortController()
    const call = client.callTool(
      { name: "steps", arguments: { wait: true } },
      { signal: controller.signal, onprogress: () => controller.abort("enough") }
    )
    await expect(call).rejects.toThrow(/enough/)
    await expect.poll(() => events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
  })

  it.each([
    { said: "yes", answer: { action: "accept" as const, content: { approve: true } }, ok: true, by: "person" },
    {
      said: "no in the form",
      answer: { action: "accept" as const, content: { approve: false } },
      ok: false,
      by: "person"
    },
    { said: "no", answer: { action: "decline" as const }, ok: false, by: "person" },
    { said: "acceptance without the field", answer: { action: "accept" as const }, ok: false, by: "nobody" },
    {
      said: "acceptance of an empty form",
      answer: { action: "accept" as const, content: {} },
      ok: false,
      by: "nobody"
    },
    { said: "a dismissal", answer: { action: "cancel" as const }, ok: false, by: "nobody" }
  ])("asks through the client and takes $said for an answer, in one call on record", async ({ answer, ok, by }) => {
    const { client, events } = await connect(quadrant, { capabilities: { elicitation: { form: {} } } })
    const asked: Array<string> = []
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message)
      return answer
    })
    const result = await client.callTool({ name: "save", arguments: { path: "a.txt", content: "x" } })
    expect(result).toMatchObject({ structuredContent: { ok }, isError: !ok })
    expect(asked).toEqual([expect.stringContaining("Run save?")])
    expect(events.map(({ type }) => type)).toEqual([
      "tool_call_started",
      "approval_requested",
      "approval_decided",
      "tool_call_finished"
    ])
    expect(events[2]).toMatchObject({ decision: ok ? "allow" : "deny", by })
  })

  it("runs nothing when the client gives the call up while it is asked", async () => {
    const { client, events } = await connect(quadrant, { capabilities: { elicitation: { form: {} } } })
    const controller = new AbortController()
    client.setRequestHandler("elicitation/create", async () => {
      controller.abort("enough")
      return { action: "accept" as const, content: { approve: true } }
    })
    const { signal } = controller
    const call = client.callTool({ name: "save", arguments: { path: "a.txt", content: "x" } }, { signal })
    await expect(call).rejects.toThrow(/enough/)
    expect(await client.callTool({ name: "word_shout", arguments: { word: "hi" } })).toMatchObject({ isError: false })
    expect(events.filter(({ type, tool }) => type === "tool_call_finished" && tool === "save")).not.toContainEqual(
      expect.objectContaining({ status: "success" })
    )
  })

  it("refuses and says how to allow it when the client can't ask", async () => {
    const { client, events } = await connect(quadrant)
    const message = expect.stringContaining("Start it with --approve all.")
    const call = client.callTool({ name: "save", arguments: { path: "a.txt", content: "x" } })
    const outcome = await call.then(({ structuredContent }) => structuredContent).catch((error: unknown) => error)
    expect(outcome).toMatchObject(
      quadrant.era === "2026-07-28"
        ? { code: -32021, message, data: { requiredCapabilities: { elicitation: { form: {} } } } }
        : { ok: false, error: "approval_denied", message }
    )
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "approval_denied" })
  })

  it.each(["made up", ""])(
    "answers the requestState %j, which no question has, with a protocol error",
    async (state) => {
      const { client, events } = await connect(quadrant)
      const params = { name: "save", arguments: { path: "a", content: "" }, requestState: state }
      await expect(client.callTool(params)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("Invalid or expired requestState")
      })
      expect(events).toEqual([])
    }
  )
})

it("answers what was asked before the client closed its end", async () => {
  const { factory } = await startServer()
  const input = new PassThrough()
  const output = new PassThrough()
  const written: Array<string> = []
  output.on("data", (chunk: Buffer) => written.push(...chunk.toString().trim().split("\n")))
  const { closed } = serveMcpOnStdio(factory, { input, output })
  const request = (id: number, method: string, params: object) =>
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
  const clientInfo = { name: "pipe", version: "0" }
  request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
  request(2, "tools/call", { name: "word.shout", arguments: { word: "hi" } })
  input.end()
  await closed
  const answered = written.map((line) => (JSON.parse(line) as { id: number }).id)
  expect(new Set(answered)).toEqual(new Set([1, 2]))
})

it("says of a line that is no message why it is none, and goes on", async () => {
  const { factory } = await startServer()
  const input = new PassThrough()
  const output = new PassThrough()
  const written: Array<string> = []
  output.on("data", (chunk: Buffer) => written.push(...chunk.toString().trim().split("\n")))
  const { closed } = serveMcpOnStdio(factory, { input, output })
  const misunderstood = [
    "hello",
    "",
    "[]",
    '{"id": 7, "method": "tools/list"}',
    '{"jsonrpc": "2.0", "method": 5}',
    '{"jsonrpc": "2.0", "id": 8, "result": 5}'
  ]
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "0" } }
  const opening = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "initialize", params })
  for (const line of [...misunderstood, opening]) input.write(`${line}\n`)
  input.end()
  await closed
  expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([
    { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error: this line is not JSON" } },
    { jsonrpc: "2.0", id: null, error: { code: -32600 } },
    { jsonrpc: "2.0", id: 7, error: { code: -32600 } },
    { jsonrpc: "2.0", id: 9, result: { serverInfo: { name: "haft" } } }
  ])
})

it("skips a message beyond the limits, answers it with its own error, and goes on", async () => {
  const { factory } = await startServer()
  const input = new PassThrough()
  const output = new PassThrough()
  const written: Array<object> = []
  output.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split("\n")) written.push(JSON.parse(line) as object)
  })
  const { closed } = serveMcpOnStdio(factory, { input, output })
  const call = (id: number | string, args: string) =>
    `{"jsonrpc":"2.0","params":{"name":"word.shout","arguments":${args}},"method":"tools/call","id":${JSON.stringify(id)}}\n`
  input.write(call(1, `{"word":"${"a".repeat(11_000_000)}"}`))
  input.write(call("zwei", `{"word":[${"0,".repeat(500_000)}0]}`))
  input.write(call(3, `{"word":${"[".repeat(1_000)}${"]".repeat(1_000)}}`))
  input.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":"${"a".repeat(11_000_000)}"}}\n`)
  input.write(`${"a".repeat(11_000_000)}\n`)
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "0" } }
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 9, method: "initialize", params })}\n`)
  input.end()
  await closed
  const refusal = (id: unknown, why: string) => ({
    id,
    error: { code: -32600, message: expect.stringContaining(why) as string }
  })
  expect(written).toMatchObject([
    refusal(1, "larger than 10485760 bytes"),
    refusal("zwei", "made of more than 100000 values"),
    refusal(3, "nested more than 128 levels deep"),
    refusal(null, "larger than 10485760 bytes"),
    { id: 9, result: { serverInfo: { name: "haft" } } }
  ])
})

it("keeps no answer that was written, and does not listen to a client that leaves megabytes unread", async () => {
  const { factory } = await startServer()
  const input = new PassThrough()
  // Nothing reads the output yet.
  const output = new PassThrough()
  serveMcpOnStdio(factory, { input, output })
  const request = (id: number, method: string, params: object) =>
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
  const clientInfo = { name: "deaf", version: "0" }
  request(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
  const asked = 60
  for (let id = 1; id <= asked; id++) {
    request(id, "tools/call", { name: "word.shout", arguments: { word: "a".repeat(500_000) } })
  }
  await expect.poll(() => input.isPaused()).toBe(true)
  expect(output.listenerCount("drain")).toBeLessThan(5)
  let lines = 0
  output.on("data", (chunk: Buffer) => {
    lines += chunk.toString().split("\n").length - 1
  })
  await expect.poll(() => lines).toBe(asked + 1)
  input.end()
})

describe("a client of 2025 on stdio", () => {
  const converse = async (messages: ReadonlyArray<object>) => {
    const { events, factory } = await startServer()
    const input = new PassThrough()
    const output = new PassThrough()
    const heard: Array<Record<string, unknown>> = []
    output.on("data", (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split("\n")) heard.push(JSON.parse(line) as Record<string, unknown>)
    })
    const { closed } = serveMcpOnStdio(factory, { input, output })
    const say = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "0" } }
    say({ id: "open", method: "initialize", params })
    await expect.poll(() => heard.length).toBe(1)
    for (const message of messages) say(message)
    return { events, heard, say, input, closed }
  }
  const shout = (more: object = {}) => ({ name: "word_shout", arguments: { word: "hi" }, ...more })

  it.each([
    ["what only it understands", { _meta: { "client/own": { a: 1 }, traceparent: "00-x" } }],
    ["words of the protocol", { _meta: { "io.modelcontextprotocol/related-task": { taskId: "1" } } }],
    ["a name of the host's own", { _meta: { "haft/begun": "made up" } }]
  ])("is answered whatever else it sends with a call: %s", async (_what, more) => {
    const { heard, input, closed } = await converse([{ id: 1, method: "tools/call", params: shout(more) }])
    await expect.poll(() => heard.length).toBe(2)
    expect(heard[1]).toMatchObject({ id: 1, result: { content: [{ text: "HI!" }], isError: false } })
    input.end()
    await closed
  })

  it.each([
    ["no name", { arguments: {} }],
    ["a name that is none", { name: 5 }],
    ["arguments that are a list", { name: "word_shout", arguments: [] }],
    ["nothing at all", undefined]
  ])("is told what is wrong with a call that has %s", async (_what, params) => {
    const { heard } = await converse([{ id: 1, method: "tools/call", params }])
    await expect.poll(() => heard[1]).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  it("can't use the number of a call that is not answered yet", async () => {
    const call = { id: 1, method: "tools/call", params: shout() }
    const { heard } = await converse([call, call])
    await expect.poll(() => heard.length).toBe(3)
    expect(heard.slice(1)).toEqual([
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
      expect.objectContaining({ id: 1, result: expect.objectContaining({ isError: false }) })
    ])
  })

  it("is answered exactly once, whatever a call carries", async () => {
    const cases: ReadonlyArray<readonly [unknown, object, expected: number | "ok" | "failed"]> = [
      ...[0, -1, "", "1", "open"].map((id) => [id, { params: shout() }, "ok"] as const),
      ...[0, -1, "", 1.5].map((progressToken) => {
        const params = { name: "steps", arguments: {}, _meta: { progressToken } }
        return [`token ${progressToken}`, { params }, progressToken === 1.5 ? -32600 : "ok"] as const
      }),
      ...[null, [], "text", 5].map(
        (meta) => [`meta ${String(meta)}`, { params: shout({ _meta: meta }) }, -32600] as const
      ),
      ...[{}, { word: 5 }, { word: "hi", more: 1 }].map((args) => {
        return [
          `arguments ${JSON.stringify(args)}`,
          { params: { name: "word_shout", arguments: args } },
          "failed"
        ] as const
      }),
      ...[null, "text", 5].map((args) => {
        return [`arguments ${args}`, { params: { name: "word_shout", arguments: args } }, -32602] as const
      }),
      ...["", "nothing", "constructor", "__proto__"].map((name) => {
        return [`name ${name}`, { params: { name, arguments: {} } }, -32602] as const
      }),
      ["requestState", { params: shout({ requestState: "x" }) }, -32602],
      ["inputResponses", { params: shout({ inputResponses: {} }) }, "ok"],
      ["more", { params: shout({ more: 1 }) }, "ok"],
      ["jsonrpc 1.0", { params: shout(), jsonrpc: "1.0" }, -32600],
      ["params null", { params: null }, -32600],
      ["asks", { params: { name: "save", arguments: { path: "a", content: "" } } }, "failed"]
    ]
    const { heard, input, closed } = await converse([
      ...cases.map(([id, more]) => ({ id, method: "tools/call", ...more })),
      { method: "tools/call", params: shout() },
      { method: "notifications/cancelled", params: { requestId: "nobody" } },
      { method: "notifications/cancelled" }
    ])
    input.end()
    await closed
    const outcome = ({ error, result }: Record<string, unknown>) =>
      (error as { code: number } | undefined)?.code ?? ((result as { isError: boolean }).isError ? "failed" : "ok")
    const answers = heard.slice(1).filter((message) => !("method" in message))
    expect(new Map(answers.map((answer) => [answer["id"], outcome(answer)]))).toEqual(
      new Map(cases.map(([id, , expected]) => [id, expected]))
    )
    expect(answers).toHaveLength(cases.length)
  })

  it("is refused a second request with an id that is in use, and gets the answer to the first", async () => {
    const wait = { name: "steps", arguments: { wait: true }, _meta: { progressToken: "far" } }
    const { events, heard, say } = await converse([{ id: 1, method: "tools/call", params: wait }])
    await expect.poll(() => heard.at(-1)).toMatchObject({ params: { progress: 2 } })
    say({ id: 1, method: "tools/call", params: shout() })
    await expect
      .poll(() => heard.at(-1))
      .toMatchObject({ id: null, error: { code: -32600, message: expect.stringContaining("the id 1 belongs to") } })
    // "1" is another id than 1.
    say({ id: "1", method: "tools/call", params: shout() })
    await expect.poll(() => heard.at(-1)).toMatchObject({ id: "1", result: { isError: false } })
    say({ method: "notifications/cancelled", params: { requestId: 1 } })
    await expect.poll(() => events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
    expect(heard.filter(({ id }) => id === 1)).toEqual([])
  })

  it.each([
    ["introduces itself twice", { id: "again", method: "initialize" }],
    ["uses the number of its introduction again", { id: "open", method: "tools/call" }]
  ])("can give up a call after it %s", async (_what, { id, method }) => {
    const wait = { name: "steps", arguments: { wait: true }, _meta: { progressToken: "far" } }
    const { events, heard, say } = await converse([{ id: 1, method: "tools/call", params: wait }])
    await expect.poll(() => heard.at(-1)).toMatchObject({ params: { progress: 2 } })
    const introduction = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "0" } }
    say({ id, method, params: method === "initialize" ? introduction : shout() })
    await expect.poll(() => heard.at(-1)).toMatchObject({ id })
    say({ method: "notifications/cancelled", params: { requestId: 1 } })
    await expect.poll(() => events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
  })

  it("can leave while a call runs, or give one up and use its number again", async () => {
    const wait = { name: "steps", arguments: { wait: true }, _meta: { progressToken: "far" } }
    const { events, heard, say, input, closed } = await converse([{ id: 1, method: "tools/call", params: wait }])
    const over = () => events.filter(({ type }) => type === "tool_call_finished").map(({ error }) => error)
    await expect.poll(() => heard.at(-1)).toMatchObject({ params: { progressToken: "far", progress: 2 } })
    say({ method: "notifications/cancelled", params: { requestId: 1, reason: "enough" } })
    await expect.poll(over).toEqual(["cancelled"])
    say({ id: 1, method: "tools/call", params: shout() })
    await expect.poll(() => heard.at(-1)).toMatchObject({ id: 1, result: { isError: false } })
    say({ id: 2, method: "tools/call", params: wait })
    await expect.poll(() => heard.at(-1)).toMatchObject({ params: { progress: 2 } })
    input.end()
    await closed
    await expect.poll(over).toEqual(["cancelled", undefined, "cancelled"])
    expect(heard.filter(({ id }) => id === 2)).toEqual([])
  })
})

it("cancels a call whose cancellation came before it, as it may over HTTP", async () => {
  const { events, factory } = await startServer()
  const handler = mcpFetchHandler(factory)
  cleanups.push(handler.close)
  const controller = new AbortController()
  const { promise: cancelled, resolve: hasCancelled } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: hasArrived } = Promise.withResolvers<void>()
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode: "legacy" } })
  const transport = new StreamableHTTPClientTransport(new URL("http://haft.test/mcp"), {
    fetch: async (url, init) => {
      const body = typeof init?.body === "string" ? init.body : ""
      if (body.includes("tools/call")) {
        controller.abort("enough")
        await cancelled
      }
      const response = await handler.fetch(new Request(url, init))
      if (body.includes("notifications/cancelled")) hasCancelled()
      if (body.includes("tools/call")) hasArrived()
      return response
    }
  })
  await client.connect(transport)
  cleanups.push(() => client.close())
  const call = client.callTool({ name: "steps", arguments: { wait: true } }, { signal: controller.signal })
  await expect(call).rejects.toThrow(/enough/)
  await arrived
  await client.callTool({ name: "word_shout", arguments: { word: "hi" } })
  const count = (wanted: string): number => events.filter(({ type }) => type === wanted).length
  await expect.poll(() => count("tool_call_started") - count("tool_call_finished")).toBe(0)
})
