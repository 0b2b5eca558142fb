import { expect, it } from "vitest"

import { readEvents, startServer } from "./running.ts"

const json = async <A>(response: Promise<Response>): Promise<A> => (await (await response).json()) as A

it("stops a call that runs, and tells its caller who did and why", async () => {
  const { send, post, call, base } = await startServer({ approval: "all" })
  const reply = call("run_command", { command: "sleep 60; touch late" })
  const running = () => json<{ calls: Array<{ step: number; tool: string }> }>(send(`${base}/calls`, "approver"))
  await expect.poll(async () => (await running()).calls.map(({ tool }) => tool)).toEqual(["run_command"])
  const step = (await running()).calls[0]?.step
  expect((await post(`${base}/calls/${step}/stop`, {}, "agent")).status).toBe(403)
  expect((await post(`${base}/calls/${step}/stop`, { reason: "wrong branch" }, "approver")).status).toBe(200)
  expect(await reply).toMatchObject({
    ok: false,
    error: { code: "cancelled", message: "the call was stopped by approver: wrong branch" }
  })
  expect((await post(`${base}/calls/${step}/stop`, {}, "approver")).status).toBe(404)
  expect(await running()).toEqual({ calls: [] })
})

it("holds the calls of a paused agent, and gives it messages with the next reply", async () => {
  const { send, post, call, base } = await startServer()
  await post(`${base}/agents/agent`, { paused: true }, "approver")
  const held = call("read_file", { path: "a.txt" })
  let isOver = false
  void held.finally(() => (isOver = true))
  const agents = () => json<{ agents: ReadonlyArray<object> }>(send(`${base}/agents`, "approver"))
  await expect.poll(agents).toMatchObject({
    agents: [{ name: "agent", lastCallAt: expect.any(Number), paused: { by: { name: "approver" } } }]
  })
  expect(await call("read_file", { path: "a.txt" }, "approver")).toMatchObject({ ok: true })
  expect(isOver).toBe(false)
  await post(`${base}/agents/agent`, { message: "look at b.txt, too", paused: false }, "approver")
  expect(await held).toMatchObject({ ok: true, adjusted: ["message from approver: look at b.txt, too"] })
  expect(await call("read_file", { path: "a.txt" })).not.toHaveProperty("adjusted")
  const { workspaces } = await json<{ workspaces: [{ run: string }] }>(send("/v1/workspaces", "approver"))
  const { events } = await json<{ events: ReadonlyArray<{ type: string }> }>(
    send(`${base}/runs/${workspaces[0].run}/events`, "approver")
  )
  expect(events.filter(({ type }) => !type.startsWith("tool_call"))).toMatchObject([
    { type: "agent_paused", agent: "agent", person: { name: "approver" } },
    { type: "message_sent", agent: "agent", message: "look at b.txt, too" },
    { type: "agent_resumed", agent: "agent" }
  ])
})

it("lists the requests and the state of all workspaces, and carries changes in its events", async () => {
  const { send, post, call, base } = await startServer()
  const stream = await send("/v1/events", "approver")
  const reply = call("write_file", { path: "b.txt", content: "b" })
  const inbox = () => json<{ approvals: ReadonlyArray<{ id: string }> }>(send("/v1/approvals", "approver"))
  await expect.poll(async () => (await inbox()).approvals.length).toBe(1)
  const [asked] = (await inbox()).approvals
  expect(asked).toMatchObject({ workspace: "default", run: expect.any(String), step: 1, tool: "write_file" })
  expect(await json(send("/v1/overview", "approver"))).toMatchObject({
    workspaces: [{ name: "default", mode: "ask", pending: 1, running: 0, agents: 1, health: "ok", problems: [] }]
  })
  await post(`${base}/approvals/${asked?.id}`, { approved: false, reason: "no" }, "approver")
  await reply
  const events = await readEvents(stream, (all) => all.some(({ data }) => data?.type === "closed"))
  const told = events.filter(({ event }) => event === "approvals").map(({ data }) => data)
  expect(told.at(-1)).toMatchObject({ type: "closed", id: asked?.id, approved: false, by: { name: "approver" } })
  expect((await send("/v1/approvals", "agent")).status).toBe(403)
})

it("shows the code index of a workspace once it is built", async () => {
  const { send, call } = await startServer()
  const overview = () => json<{ workspaces: ReadonlyArray<object> }>(send("/v1/overview", "approver"))
  expect((await overview()).workspaces[0]).not.toHaveProperty("codeIndex")
  expect(await call("search_code", { query: "a" })).toMatchObject({ ok: true })
  expect((await overview()).workspaces[0]).toMatchObject({
    codeIndex: { files: 1, symbols: expect.any(Number), bytes: expect.any(Number), refreshedAt: expect.any(Number) }
  })
})

it("searches the record, names the call that last changed a file, and exports a run", async () => {
  const { send, call, base } = await startServer({ approval: "all" })
  await call("write_file", { path: "b.txt", content: "a needle in it" })
  await call("write_file", { path: "b.txt", content: "again" })
  await call("read_file", { path: "a.txt" })
  const search = (query: string) =>
    json<{ calls: ReadonlyArray<{ run: string; step: number }> }>(send(`${base}/record?${query}`, "approver"))
  expect((await search("text=NEEDLE")).calls).toMatchObject([{ step: 1, tool: "write_file", agent: "agent" }])
  expect((await search("text=needle%20absent")).calls).toEqual([])
  expect((await search("changed=b.txt")).calls.map(({ step }) => step)).toEqual([2, 1])
  expect((await search("changed=b.tx")).calls).toEqual([])
  // A call that failed has changed nothing; one that removed the directory has.
  await call("write_file", { path: "d/e/f.txt", content: "f" })
  await call("edit_file", { path: "d/e/f.txt", edits: [{ find: "absent", replace: "x" }] })
  expect((await search("changed=d/e/f.txt&limit=1")).calls).toMatchObject([{ step: 4 }])
  await call("delete_path", { path: "d", recursive: true })
  expect((await search("changed=d/e/f.txt&limit=1")).calls).toMatchObject([
    { step: 6, tool: "delete_path" },
    { step: 4 }
  ])
  expect((await search("changed=d/x.txt")).calls).toMatchObject([{ step: 6 }])
  expect((await search("changed=dd")).calls).toEqual([])
  expect((await search("tool=read_file&agent=agent")).calls).toMatchObject([{ step: 3, status: "success" }])
  const run = (await search("text=needle")).calls[0]?.run
  const page = (view: string) =>
    json<{ events: ReadonlyArray<Record<string, unknown>> }>(send(`${base}/runs/${run}/events?${view}`, "approver"))
  const { events: full } = await page("")
  const { events: summary } = await page("view=summary")
  expect(summary.map(({ seq }) => seq)).toEqual(full.map(({ seq }) => seq))
  expect([full.some(({ reply }) => reply), summary.some(({ reply }) => reply)]).toEqual([true, false])
  const ofCall = await json<{ events: ReadonlyArray<Record<string, unknown>> }>(
    send(`${base}/runs/${run}/calls/2?from=3`, "approver")
  )
  expect(ofCall.events).toEqual(full.filter(({ step }) => step === 2))
  expect((await send(`${base}/runs/${run}/calls/99`, "approver")).status).toBe(404)
  expect((await search("text=%0A")).calls.length).toBe(6)
  const figures = await json<object>(send(`${base}/metrics?run=${run}`, "approver"))
  expect(figures).toMatchObject({ runs: 1, calls: 6, failed: 1, tools: [{ tool: "write_file", calls: 3 }, {}, {}, {}] })
  expect(await json<object>(send(`${base}/metrics`, "approver"))).toEqual(figures)
  expect((await send(`${base}/metrics?run=absent`, "approver")).status).toBe(404)
  expect((await send(`${base}/metrics`, "agent")).status).toBe(403)
  const exported = await send(`${base}/runs/${run}/export`, "approver")
  expect(exported.headers.get("content-disposition")).toBe(`attachment; filename="haft-${run}.jsonl"`)
  const lines = (await exported.text()).trim().split("\n")
  expect(lines.map((line) => JSON.parse(line))).toEqual(full)
})

it.skipIf(process.platform !== "linux")(
  "names the command whose committed changes were the last of a file (not on this platform)",
  async () => {
    const { send, call, base } = await startServer({ approval: "all", sandbox: "unshare" })
    await call("write_file", { path: "made.txt", content: "by a tool" })
    expect(
      await call("run_command", { command: "echo by a command > made.txt; mkdir -p out && echo 1 > out/x" })
    ).toMatchObject({ ok: true })
    const search = (path: string) =>
      json<{ calls: ReadonlyArray<{ step: number }> }>(send(`${base}/record?limit=1&changed=${path}`, "approver"))
    expect((await search("made.txt")).calls.map(({ step }) => step)).toEqual([2, 1])
    expect((await search("out/x")).calls.map(({ step }) => step)).toEqual([2])
    expect((await search("a.txt")).calls).toEqual([])
  }
)
