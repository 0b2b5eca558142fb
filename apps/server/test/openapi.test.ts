import { expect, it } from "vitest"
import * as z from "zod"

import { startServer } from "./running.ts"

interface Operation {
  readonly security?: ReadonlyArray<object>
  readonly requestBody?: object
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: Parameters<typeof z.fromJSONSchema>[0] }>> }>
  >
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

it("says the truth about every route", async () => {
  const running = await startServer()
  const { send, post, call, server } = running
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

  const values: Readonly<Record<string, string>> = { workspace: "default", dialect: "haft", run, artifact }
  const bodies: Readonly<Record<string, unknown>> = {
    "POST /v1/links": {},
    "POST /v1/workspaces/{workspace}/calls": { tool: "read_file", params: { path: "a.txt" } },
    "POST /v1/workspaces/{workspace}/previews": { tool: "write_file", params: { path: "a.txt", content: "" } },
    "POST /v1/workspaces/{workspace}/approvals/{id}": { approved: false, reason: "not today" },
    "POST /v1/workspaces/{workspace}/rules": { tool: "move_path", decision: "deny" },
    "POST /v1/workspaces/{workspace}/rules/{id}": { enabled: false },
    "POST /v1/workspaces/{workspace}/simulations": {}
  }
  const called: Array<string> = []
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  for (const { path, method, operation } of routes) {
    if (path.includes("mcp")) continue
    const id = path.includes("approvals") ? question!.id : rule.id
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === "id" ? id : (values[name] ?? "")))
    const query = path === "/login" ? `?code=${new URL(server.consoleLink()).searchParams.get("code")}` : ""
    const as = operation.security === undefined ? undefined : "approver"
    const key = `${method} ${path}`
    const response =
      operation.requestBody === undefined
        ? await send(`${filled}${query}`, as, { method })
        : await post(filled, bodies[key], as)
    expect([key, await differenceFrom(operation, response)]).toEqual([key, undefined])
    called.push(key)
  }
  expect(called).toHaveLength(routes.filter(({ path }) => !path.includes("mcp")).length)
  expect(called).toContain("GET /v1/workspaces/{workspace}/runs/{run}/artifacts/{artifact}")
  expect(await asked).toMatchObject({ ok: false, error: { message: expect.stringContaining("not today") } })
  expect(running.defects).toEqual([])
})

/** What a response has that its documentation does not know; undefined when all is as it says. */
const differenceFrom = async (operation: Operation, response: Response): Promise<unknown> => {
  const documented = operation.responses[String(response.status)]
  if (documented === undefined) return `status ${response.status}: ${await response.text()}`
  const [[type, { schema }] = ["", {}]] = Object.entries(documented.content ?? {})
  const received = response.headers.get("content-type") ?? ""
  if (response.status !== 303 && !received.includes(type)) return `content type ${received}`
  if (schema !== undefined) return z.fromJSONSchema(schema).safeParse(await response.json()).error
  await response.body?.cancel()
  return undefined
}

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
