import { expect, it } from "vitest"

import { readEvents, type Running, type ServerSentEvent, startServer } from "./running.ts"

interface Terminal {
  readonly id: string
  readonly command: string
  readonly isRunning: boolean
  readonly exitCode: number | null
}

const terminalsOf = async ({ send, base }: Running): Promise<ReadonlyArray<Terminal>> =>
  ((await (await send(`${base}/terminals`, "approver")).json()) as { terminals: [] }).terminals

const openTerminal = async ({ call }: Running, command: string): Promise<string> => {
  const reply = await call("open_terminal", { command, yield_time_ms: 250 }, "approver")
  return (reply as { result: { terminal_id: string } }).result.terminal_id
}

const outputIn = (events: ReadonlyArray<ServerSentEvent>): string =>
  events
    .filter(({ event }) => event === "output")
    .map(({ data }) => Buffer.from(String(data?.["bytes"]), "base64").toString())
    .join("")

it("shows a terminal as it runs, lets the approver type, and tells its end", async () => {
  const running = await startServer()
  const { send, post, base } = running
  const id = await openTerminal(running, "echo ready; read line; echo got $line; exit 3")
  expect(await terminalsOf(running)).toMatchObject([{ id, isRunning: true, exitCode: null }])
  const stream = await send(`${base}/terminals/${id}/output`, "approver")
  const typed = await post(`${base}/terminals/${id}/input`, { text: "words\n" }, "approver")
  expect([typed.status, await typed.json()]).toEqual([200, { typed: true }])
  const events = await readEvents(stream, (all) => all.some(({ event }) => event === "end"))
  expect(events[0]).toEqual({ event: "size", data: { cols: 80, rows: 24 } })
  expect(outputIn(events)).toMatch(/ready\r\n[^]*got words\r\n$/)
  expect(events.at(-1)).toEqual({ event: "end", data: { exitCode: 3, signal: null } })
  expect(await terminalsOf(running)).toMatchObject([{ id, isRunning: false, exitCode: 3 }])
  const late = await post(`${base}/terminals/${id}/input`, { text: "more" }, "approver")
  expect([late.status, await late.json()]).toMatchObject([409, { error: { code: "session_ended" } }])
})

it("gives the output page by page, and tells of more in the stream of all workspaces", async () => {
  const running = await startServer()
  const { send, post, base } = running
  const id = await openTerminal(running, "printf one; read line; printf two; sleep 60")
  const page = async (after: number) =>
    (await (await send(`${base}/terminals/${id}/output/page?after=${after}`, "approver")).json()) as { bytes: string }
  expect(await page(0)).toEqual({
    bytes: Buffer.from("one").toString("base64"),
    after: 3,
    hasMore: false,
    cols: 80,
    rows: 24,
    isRunning: true
  })
  const stream = await send("/v1/events", "approver")
  await post(`${base}/terminals/${id}/input`, { text: "x\n" }, "approver")
  const events = await readEvents(stream, (all) => all.some(({ event }) => event === "output"))
  expect(events.find(({ event }) => event === "output")?.data).toMatchObject({ workspace: "default", terminal: id })
  await expect.poll(async () => Buffer.from((await page(3)).bytes, "base64").toString()).toMatch(/two$/)
  expect((await send(`${base}/terminals/${id}/output/page`, "agent")).status).toBe(403)
})

it("takes up the output where a client left off", async () => {
  const running = await startServer()
  const { send, base } = running
  const id = await openTerminal(running, "printf one; printf two")
  const path = `${base}/terminals/${id}/output`
  const isOver = (all: ReadonlyArray<ServerSentEvent>) => all.some(({ event }) => event === "end")
  expect(outputIn(await readEvents(await send(path, "approver"), isOver))).toBe("onetwo")
  const again = await send(path, "approver", { headers: { "last-event-id": "3" } })
  expect(outputIn(await readEvents(again, isOver))).toBe("two")
})

it("is for the approver only, and what a person types is on record", async () => {
  const running = await startServer()
  const { send, post, base } = running
  const id = await openTerminal(running, "cat")
  expect((await send(`${base}/terminals`, "agent")).status).toBe(403)
  expect((await send(`${base}/terminals/${id}/output`, "agent")).status).toBe(403)
  expect((await post(`${base}/terminals/${id}/input`, { text: "x" }, "agent")).status).toBe(403)
  expect((await send(`${base}/terminals/none/output`, "approver")).status).toBe(404)
  expect((await post(`${base}/terminals/none/input`, { text: "x" }, "approver")).status).toBe(404)
  await post(`${base}/terminals/${id}/input`, { text: "from a person\n" }, "approver")
  const { workspaces } = (await (await send("/v1/workspaces", "agent")).json()) as { workspaces: [{ run: string }] }
  const page = await send(`${base}/runs/${workspaces[0].run}/events`, "approver")
  const { events } = (await page.json()) as { events: Array<{ type: string; tool: string; approval?: object }> }
  expect(events.at(-1)).toMatchObject({
    type: "tool_call_finished",
    tool: "write_terminal",
    touches: { types: id },
    approval: { by: "person", reason: "typed by the approver" }
  })
})

it("leaves to the agent what a person has seen already", async () => {
  const running = await startServer()
  const { post, call, base } = running
  const id = await openTerminal(running, "cat")
  await post(`${base}/terminals/${id}/input`, { text: "hello\n" }, "approver")
  const reply = await call("write_terminal", { terminal_id: id, quiet_ms: 50 })
  expect(reply).toMatchObject({ ok: true, result: { output: expect.stringContaining("hello") } })
})

it("knows the terminals of every dialect", async () => {
  const running = await startServer()
  const { send, post, base } = running
  const stream = await send(`${base}/events`, "approver")
  const body = { dialect: "toolrouter", tool: "exec_command", params: { session_id: "a/b", cmd: "cat" } }
  expect((await post(`${base}/calls`, body, "approver")).status).toBe(200)
  await readEvents(stream, (all) => all.some(({ event }) => event === "terminals"))
  expect(await terminalsOf(running)).toMatchObject([{ id: "a/b", command: "cat", isRunning: true }])
  const path = `${base}/terminals/${encodeURIComponent("a/b")}`
  expect((await post(`${path}/input`, { text: "typed\n" }, "approver")).status).toBe(200)
  const output = await readEvents(await send(`${path}/output`, "approver"), (all) => outputIn(all).includes("typed"))
  expect(outputIn(output)).toContain("typed\r\n")
})
