import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { HaftConfig } from "haft/internal"
import { describe, expect, it, onTestFinished } from "vitest"

import { inFlight, type Running, startServer, tokens } from "./running.ts"

const eras = { "2025-11-25": { mode: "legacy" }, "2026-07-28": { mode: { pin: "2026-07-28" } } } as const

const connect = async (
  { server }: Running,
  era: keyof typeof eras,
  {
    path = "/mcp",
    capabilities = {},
    as = "agent"
  }: { path?: string; as?: keyof typeof tokens } & Pick<ClientOptions, "capabilities"> = {}
) => {
  const client = new Client({ name: "test", version: "0" }, { capabilities, versionNegotiation: eras[era] })
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}${path}`), {
    requestInit: { headers: { authorization: `Bearer ${tokens[as]}` } }
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

const openQuestions = async ({ send, base }: Running): Promise<Array<{ id: string; tool: string }>> =>
  ((await (await send(`${base}/approvals`, "approver")).json()) as { approvals: [] }).approvals

const freely: HaftConfig = { approval: "all" }
const write = { name: "write_file", arguments: { path: "b.txt", content: "b" } }

interface Choice {
  readonly oneOf: ReadonlyArray<{ readonly const: string }>
}

describe.each(Object.keys(eras) as Array<keyof typeof eras>)("MCP %s over HTTP", (era) => {
  it("lists and calls the tools of the dialect that is mounted", async () => {
    const running = await startServer({ alsoDialects: ["filetools"] })
    const client = await connect(running, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("read_file")
    expect(await client.callTool({ name: "read_file", arguments: { path: "a.txt" } })).toMatchObject({
      content: [{ type: "text", text: "one\ntwo\n" }],
      structuredContent: { ok: true, result: { content: "one\ntwo\n" } },
      isError: false
    })
    const filetools = await connect(running, era, { path: "/v1/workspaces/default/mcp/filetools" })
    expect((await filetools.listTools()).tools.map(({ name }) => name)).toContain("file_read")
    expect(running.defects).toEqual([])
  })

  it("passes progress on", async () => {
    const client = await connect(await startServer(freely), era)
    const heard: Array<unknown> = []
    const call = { name: "run_command", arguments: { command: "for i in 1 2 3; do echo $i; sleep 0.6; done" } }
    expect(await client.callTool(call, { onprogress: (progress) => heard.push(progress) })).toMatchObject({
      isError: false
    })
    expect(heard.length).toBeGreaterThan(0)
  })

  it.each(["cancelled by the client", "left by the client"])(
    "ends a call, and its process, that is %s",
    async (how) => {
      const running = await startServer(freely)
      const client = await connect(running, era)
      const controller = new AbortController()
      const command = "echo $$ > pid; exec sleep 1000"
      const call = client.callTool({ name: "run_command", arguments: { command } }, { signal: controller.signal })
      call.catch(() => {})
      await expect.poll(() => running.workspace.read("pid")).toMatch(/^\d+\n$/)
      const pid = Number(running.workspace.read("pid"))
      expect(isAlive(pid)).toBe(true)
      if (how === "left by the client") await client.close()
      else controller.abort("enough")
      await expect.poll(() => isAlive(pid)).toBe(false)
    }
  )

  it("offers artifacts as resources to the caller who made them, whole and in parts", async () => {
    const running = await startServer({ ...freely, replyBytes: 300_000 })
    const client = await connect(running, era)
    expect((await client.listResources()).resources).toEqual([])
    const { content } = await client.callTool({ name: "run_command", arguments: { command: "seq 1 30000" } })
    const link = content.find((block) => block.type === "resource_link")
    const uri = link?.uri ?? ""
    expect(uri).toMatch(/^artifact:[\w-]+\/logs\/tool_step_0001_stdout\.txt$/)
    const { resources } = await client.listResources()
    expect(resources.find((resource) => resource.uri === uri)).toMatchObject({
      name: "logs/tool_step_0001_stdout.txt",
      mimeType: "text/plain",
      size: 168_894
    })
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([
      { uri, mimeType: "text/plain", text: expect.stringMatching(/^1\n2\n[^]*\n30000\n$/) }
    ])
    const part = `${uri}?start=2&length=4`
    expect((await client.readResource({ uri: part })).contents).toEqual([
      { uri: part, mimeType: "text/plain", text: "2\n3\n" }
    ])
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: "artifact:{run}/{+path}{?start,length}" }
    ])
    await client.callTool({ name: "run_command", arguments: { command: "seq 1 100000" } })
    await expect(client.readResource({ uri: uri.replace("0001", "0002") })).rejects.toThrow(/at most 300000 are read/)
    for (const bad of [`${uri}x`, `${uri}?start=-1`, `${uri}?lines=3`, "artifact:../../x", "file:///etc/passwd"]) {
      await expect(client.readResource({ uri: bad })).rejects.toThrow(/no artifact|Invalid range/)
    }
    const other = await connect(running, era, { as: "approver" })
    expect((await other.listResources()).resources).toEqual([])
    await expect(other.readResource({ uri })).rejects.toThrow(/no artifact/)
    const record = (await (
      await running.send(`${running.base}/runs/${/:([^/]+)/.exec(uri)?.[1]}/events`, "approver")
    ).json()) as {
      events: ReadonlyArray<{ type: string; status?: string; caller?: { role: string } }>
    }
    const reads = record.events.filter(({ type }) => type === "artifact_read")
    expect(reads[0]).toMatchObject({ address: uri, status: "success", bytes: 168_894, caller: { role: "agent" } })
    expect(reads.at(-1)).toMatchObject({ status: "error", error: "file_not_found", caller: { role: "approver" } })
  })

  it("asks a person at the gate when the client can't ask", async () => {
    const running = await startServer()
    const client = await connect(running, era)
    const call = client.callTool(write)
    await expect.poll(() => openQuestions(running)).toMatchObject([{ tool: "write_file" }])
    const [question] = await openQuestions(running)
    const answer = { approved: true, modifiedArgs: { path: "b.txt", content: "edited" } }
    expect((await running.post(`${running.base}/approvals/${question!.id}`, answer, "approver")).status).toBe(200)
    expect(await call).toMatchObject({ structuredContent: { ok: true } })
    expect(running.workspace.read("b.txt")).toBe("edited")
  })

  it("asks through the client that can ask, and not at the gate, where the configuration says so", async () => {
    const running = await startServer({ approvalOptions: { askClient: true } })
    const client = await connect(running, era, { capabilities: { elicitation: { form: {} } } })
    const asked: Array<string> = []
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message)
      expect(await openQuestions(running)).toEqual([])
      return { action: "accept", content: { approve: true } }
    })
    expect(await client.callTool(write)).toMatchObject({ structuredContent: { ok: true } })
    expect(asked).toEqual([expect.stringContaining("b.txt")])
    expect(running.workspace.read("b.txt")).toBe("b")
  })

  it("stores the rule that the person chose in the client, with its scope and expiry", async () => {
    const running = await startServer({ approvalOptions: { askClient: true } })
    const client = await connect(running, era, { capabilities: { elicitation: { form: {} } } })
    let asked = 0
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked++
      const { properties } = (params as { requestedSchema: { properties: Record<string, Choice> } }).requestedSchema
      expect(properties["expires"]?.oneOf.map((one) => one.const)).toEqual(["never", "1h", "8h", "7d", "30d"])
      const remember = properties["remember"]?.oneOf[1]?.const ?? ""
      return { action: "accept", content: { approve: true, remember, scope: "workspace", expires: "8h" } }
    })
    expect(await client.callTool(write)).toMatchObject({ structuredContent: { ok: true } })
    expect(await client.callTool(write)).toMatchObject({ structuredContent: { ok: true } })
    expect(asked).toBe(1)
    const listed = await running.send(`${running.base}/rules`, "approver")
    const { rules } = (await listed.json()) as { rules: ReadonlyArray<{ expires: string }> }
    expect(rules).toHaveLength(1)
    expect(Math.abs(Date.parse(rules[0]!.expires) - Date.now() - 8 * 3_600_000)).toBeLessThan(600_000)
  })

  it("asks only an approver by default, whatever the client could ask", async () => {
    const running = await startServer()
    const client = await connect(running, era, { capabilities: { elicitation: { form: {} } } })
    let asked = 0
    client.setRequestHandler("elicitation/create", () => {
      asked++
      return { action: "accept", content: { approve: true } }
    })
    const call = client.callTool(write)
    await expect.poll(() => openQuestions(running)).toMatchObject([{ tool: "write_file" }])
    const [question] = await openQuestions(running)
    await running.post(`${running.base}/approvals/${question!.id}`, { approved: false }, "approver")
    expect(await call).toMatchObject({ isError: true, structuredContent: { ok: false } })
    expect(asked).toBe(0)
    expect(() => running.workspace.read("b.txt")).toThrow("ENOENT")
  })

  it.each(["/mcp", "/v1/workspaces/default/mcp/haft", "/v1/workspaces/default/mcp/approvalgate"])(
    "takes no answer there that nobody asked for (%s)",
    async (path) => {
      const running = await startServer({
        alsoDialects: ["approvalgate"],
        approvalOptions: { alsoAsk: ["safe_write"] }
      })
      const client = await connect(running, era, { path, capabilities: { elicitation: { form: {} } } })
      const inputResponses = { approval: { action: "accept", content: { approve: true } } }
      const withMore = (more: object) => client.callTool({ ...write, ...more })
      const call = withMore({ inputResponses })
      await expect.poll(() => openQuestions(running)).toMatchObject([{ tool: "write_file" }])
      const [question] = await openQuestions(running)
      await running.post(`${running.base}/approvals/${question!.id}`, { approved: false }, "approver")
      expect(await call).toMatchObject({ isError: true })
      await expect(withMore({ inputResponses, requestState: "guessed" })).rejects.toMatchObject({ code: -32602 })
      expect(() => running.workspace.read("b.txt")).toThrow("ENOENT")
    }
  )

  it("closes the question of a client that has gone", async () => {
    const running = await startServer()
    const client = await connect(running, era)
    client.callTool(write).catch(() => {})
    await expect.poll(() => openQuestions(running)).toHaveLength(1)
    await client.close()
    await expect.poll(() => openQuestions(running)).toEqual([])
  })
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it("answers a session that it does not know as the protocol says", async () => {
  const { post } = await startServer()
  const headers = { accept: "application/json, text/event-stream", "mcp-session-id": "made-up" }
  const response = await post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, "agent", { headers })
  expect([response.status, await response.json()]).toEqual([
    404,
    { jsonrpc: "2.0", id: null, error: { code: -32_001, message: expect.stringContaining("initialize again") } }
  ])
})

it.each([
  ["/v1/workspaces/nowhere/mcp/haft", 404],
  ["/v1/workspaces/default/mcp/klingon", 400],
  ["/v1/workspaces/default/mcp/agentbench", 403]
])("has nothing at %s", async (path, status) => {
  const { post } = await startServer()
  expect((await post(path, { jsonrpc: "2.0", id: 1, method: "tools/list" })).status).toBe(status)
})

/** Opens a session of the older protocols; its headers. */
const openSession = async ({ post }: Running, as: "agent" | "approver" = "agent") => {
  const headers = { accept: "application/json, text/event-stream" }
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "test", version: "0" } }
  const opened = await post("/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params }, as, { headers })
  await opened.text()
  return { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
}

it("closes the oldest session of a client that opens too many, and none of another's", async () => {
  const running = await startServer()
  const others = await openSession(running, "approver")
  const first = await openSession(running)
  for (let count = 0; count < 100; count++) await openSession(running)
  const statusOf = async (headers: Record<string, string>, as: "agent" | "approver") => {
    const response = await running.post("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, as, { headers })
    await response.text()
    return response.status
  }
  expect([await statusOf(first, "agent"), await statusOf(others, "approver")]).toEqual([404, 200])
})

it.each(["tools/list", "tools/call", "ping"])("keeps a session to the token that opened it (%s)", async (method) => {
  const running = await startServer()
  const headers = await openSession(running)
  const message = { jsonrpc: "2.0", id: 1, method, params: { name: "list_dir", arguments: {} } }
  const statusAs = async (as: "agent" | "approver") => {
    const response = await running.post("/mcp", message, as, { headers })
    await response.text()
    return response.status
  }
  expect([await statusAs("approver"), await statusAs("agent")]).toEqual([404, 200])
  for (const http of ["GET", "DELETE"]) {
    expect((await running.send("/mcp", "approver", { method: http, headers })).status).toBe(404)
  }
})

it("refuses a request whose id is in use, beside it and in one batch, and takes the id again afterwards", async () => {
  const running = await startServer({ approval: "all" })
  const headers = await openSession(running)
  const call = (command: string) => ({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "run_command", arguments: { command } }
  })
  const send = (message: unknown) => running.post("/mcp", message, "agent", { headers })
  const first = send(call("touch started; until [ -e go ]; do sleep 0.05; done; echo first"))
  await expect.poll(() => running.workspace.read("started")).toBe("")
  expect([(await send(call("echo second"))).status, (await send([call("a"), call("b")])).status]).toEqual([400, 400])
  await running.call("write_file", { path: "go", content: "" })
  expect(await (await first).text()).toContain("first")
  expect(await (await send(call("echo third"))).text()).toContain("third")
})

it("counts every call of a batch against what a client may have in flight", async () => {
  const running = await startServer({}, { limits: { calls: { perClient: 2, total: 10 } } })
  const { post, send } = running
  const session = await openSession(running)
  const batchOf = (count: number) =>
    Array.from({ length: count }, (_, id) => ({
      jsonrpc: "2.0",
      id: id + 1,
      method: "tools/call",
      params: { name: "list_dir", arguments: {} }
    }))
  expect((await post("/mcp", batchOf(3), "agent", { headers: session })).status).toBe(429)
  expect(await inFlight(send)).toBe(0)
  const fits = await post("/mcp", batchOf(2), "agent", { headers: session })
  expect([fits.status, (await fits.text()).match(/"ok":true/g)?.length]).toEqual([200, 2])
  await expect.poll(() => inFlight(send)).toBe(0)
})

it("refuses a batch of more than 100 messages, and goes on", async () => {
  const running = await startServer()
  const headers = await openSession(running)
  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" })
  const send = (count: number) =>
    running.post(
      "/mcp",
      Array.from({ length: count }, (_, at) => ping(at + 1)),
      "agent",
      { headers }
    )
  const refused = await send(101)
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining("a batch has at most 100 messages") } }
  ])
  expect((await send(100)).status).toBe(200)
})
