import { expect, it } from "vitest"
import * as z from "zod"

import { startServer } from "./running.ts"

type Schema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>

interface Operation {
  readonly security?: ReadonlyArray<object>
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema?: Schema }>> }>>
}
interface Document {
  readonly components: { readonly schemas: object }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

it("says the truth about every route", async () => {
  const tokens = {
    agent: "agent-token-of-the-test",
    approver: "approver-token-of-the-test",
    admin: "admin-token-of-the-test"
  }
  const running = await startServer({}, { tokens })
  const { send, post, call, server, base } = running
  const document = (await (await send("/openapi.json")).json()) as Document
  // Something to look at: a call on record, one that left a file behind, a rule, and an open question.
  await call("read_file", { path: "a.txt" })
  await call("write_file", { path: "b.txt", content: "b" }, "approver")
  const { rule } = (await (
    await post(`${running.base}/rules`, { tool: "delete_path", decision: "deny" }, "approver")
  ).json()) as { rule: { id: string } }
  const asked = call("write_file", { path: "c.txt", content: "c" })
  await expect.poll(() => openApprovals(running)).toHaveLength(1)
  const [question] = await openApprovals(running)
  const { workspaces } = (await (await send("/v1/workspaces", "agent")).json()) as { workspaces: [{ run: string }] }
  const [{ run }] = workspaces
  const artifact = await artifactOf(running)
  const opened = (await call("open_terminal", { command: "cat", yield_time_ms: 250 }, "approver")) as {
    result: { terminal_id: string }
  }
  const terminal = opened.result.terminal_id
  const sleeping = call("run_command", { command: "sleep 60" }, "approver")
  const stoppable = async () => {
    const { calls } = (await (await send(`${base}/calls`, "approver")).json()) as {
      calls: ReadonlyArray<{ tool: string; step: number }>
    }
    return calls.find(({ tool }) => tool === "run_command")?.step
  }
  await expect.poll(stoppable).toBeTypeOf("number")
  const stopped = String(await stoppable())

  const values: Readonly<Record<string, string>> = {
    workspace: "default",
    dialect: "haft",
    run,
    artifact,
    terminal,
    step: "1",
    agent: "ci"
  }
  const bodies: Readonly<Record<string, unknown>> = {
    "POST /v1/links": {},
    "POST /v1/workspaces/{workspace}/calls/{step}/stop": {},
    "POST /v1/workspaces/{workspace}/agents/{agent}": { message: "wait" },
    "POST /v1/workspaces/{workspace}/runs/{run}/replay": {},
    "POST /v1/workspaces/{workspace}/calls": { tool: "read_file", params: { path: "a.txt" } },
    "POST /v1/workspaces/{workspace}/previews": { tool: "write_file", params: { path: "a.txt", content: "" } },
    "POST /v1/workspaces/{workspace}/approvals/{id}": { approved: false, reason: "not today" },
    "POST /v1/workspaces/{workspace}/branches": { name: "dropped" },
    "POST /v1/workspaces/{workspace}/branches/{branch}/calls": { tool: "read_file", params: { path: "a.txt" } },
    "POST /v1/workspaces/{workspace}/branches/{branch}/merge": {},
    "PUT /v1/workspaces/{workspace}/mode": { mode: "accept-edits" },
    "POST /v1/workspaces/{workspace}/rules": { tool: "move_path", decision: "deny" },
    "POST /v1/workspaces/{workspace}/rules/{id}": { enabled: false },
    "PUT /v1/workspaces/{workspace}/rules/{id}": { ...rule, note: "better" },
    "POST /v1/workspaces/{workspace}/simulations": {},
    "POST /v1/workspaces/{workspace}/terminals/{terminal}/input": { text: "typed\n" }
  }
  const queries: Readonly<Record<string, string>> = {
    "GET /login": `?code=${new URL(server.consoleLink()).searchParams.get("code")}`,
    "DELETE /v1/workspaces/{workspace}/runs": "?before=2000-01-01T00:00:00Z"
  }
  const isForAdmins = new Set(["DELETE /v1/workspaces/{workspace}/runs"])
  const called: Array<string> = []
  const hasBranches = process.platform === "linux"
  if (hasBranches) await post(`${running.base}/branches`, { name: "merged" })
  const routes = Object.entries(document.paths)
    .filter(([path]) => hasBranches || !path.includes("/branches"))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
    )
  // MCP has a life of its own: a session is begun, listened to and ended.
  let session: Record<string, string> = {}
  for (const { path, method, operation } of routes) {
    const id = path.includes("approvals") ? question!.id : rule.id
    const branch = method === "DELETE" ? "dropped" : "merged"
    const known = { ...values, id, branch, ...(path.endsWith("/stop") && { step: stopped }) }
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name as keyof typeof known] ?? "")
    const query = queries[`${method} ${path}`] ?? ""
    const as = operation.security === undefined ? undefined : "approver"
    const key = `${method} ${path}`
    const headers = {
      ...(path.includes("mcp") && { accept: "application/json, text/event-stream", ...session }),
      ...(isForAdmins.has(key) && { authorization: `Bearer ${tokens.admin}` })
    }
    const response =
      operation.requestBody === undefined && !key.startsWith("POST")
        ? await send(`${filled}${query}`, as, { method, headers })
        : await post(filled, path.includes("mcp") ? initialize : bodies[key], as, { method, headers })
    if (path.includes("mcp")) session = sessionAfter(method, response)
    expect([key, await differenceFrom(document, operation, response)]).toEqual([key, undefined])
    called.push(key)
  }
  expect(called).toHaveLength(routes.length)
  expect(called).toContain("GET /v1/workspaces/{workspace}/runs/{run}/artifacts/{artifact}")
  expect(await asked).toMatchObject({ ok: false, error: { message: expect.stringContaining("not today") } })
  expect(await sleeping).toMatchObject({ ok: false, error: { code: "cancelled" } })
  expect(running.defects).toEqual([])
})

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } }
}

const sessionAfter = (method: string, { headers }: Response): Record<string, string> => {
  const id = headers.get("mcp-session-id")
  return id === null || method === "DELETE" ? {} : { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" }
}

/** Differences between a response and its documentation; undefined if there are none. */
const differenceFrom = async (document: Document, operation: Operation, response: Response): Promise<unknown> => {
  const documented = operation.responses[String(response.status)]
  if (documented === undefined) return `status ${response.status}: ${await response.text()}`
  const content = Object.entries(documented.content ?? {})
  const received = response.headers.get("content-type")
  const said = content.find(([type]) => received?.startsWith(type) === true)
  if (content.length === 0 ? received !== null : said === undefined) return `content type ${received}`
  const schema = said?.[1].schema
  if (schema !== undefined) return zodOf(document, schema).safeParse(await response.json()).error
  await response.body?.cancel()
  return undefined
}

// Zod resolves references within a schema only, so the document's components become its definitions.
const zodOf = ({ components }: Document, schema: Schema) => {
  const whole = JSON.stringify({ ...schema, $defs: components.schemas }).replaceAll("#/components/schemas/", "#/$defs/")
  return z.fromJSONSchema(JSON.parse(whole) as Schema)
}

it("refers to nothing that it does not have", async () => {
  const { send } = await startServer()
  const text = await (await send("/openapi.json")).text()
  const document: unknown = JSON.parse(text)
  const named = [...new Set([...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference = ""]) => reference))]
  expect(named).toContain("#/components/schemas/Json")
  for (const reference of named) {
    const [root, ...parts] = reference.split("/")
    const found = parts.reduce((value, part) => (value as Record<string, unknown> | undefined)?.[part], document)
    expect([reference, root, typeof found]).toEqual([reference, "#", "object"])
    expect(parts.length).toBeGreaterThan(0)
  }
})

const openApprovals = async ({ send, base }: Awaited<ReturnType<typeof startServer>>) => {
  const { approvals } = (await (await send(`${base}/approvals`, "approver")).json()) as {
    approvals: Array<{ id: string }>
  }
  return approvals
}

const artifactOf = async ({ call }: Awaited<ReturnType<typeof startServer>>): Promise<string> => {
  const reply = await call("run_command", { command: "seq 1 200000" }, "approver")
  return JSON.stringify(reply).match(/(?:logs|output)\/[\w./-]+/)?.[0] ?? "none"
}
