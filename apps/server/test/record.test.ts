import { describe, expect, it } from "vitest"

import { readEvents, startServer } from "./running.ts"

describe("events", () => {
  it("come as they happen, and go on where a client left off", async () => {
    const { send, call, base } = await startServer()
    const stream = await send(`${base}/events`, "approver")
    expect(stream.headers.get("content-type")).toBe("text/event-stream")
    await call("read_file", { path: "a.txt" })
    const first = await readEvents(stream, (events) => events.length >= 2)
    expect(first.map(({ data }) => data?.type)).toEqual(["tool_call_started", "tool_call_finished"])
    await call("read_file", { path: "missing.txt" })
    const headers = { "last-event-id": first[0]?.id ?? "" }
    const again = await readEvents(await send(`${base}/events`, "approver", { headers }), ({ length }) => length >= 3)
    expect(again.map(({ data }) => [data?.["seq"], data?.type])).toEqual([
      [2, "tool_call_finished"],
      [3, "tool_call_started"],
      [4, "tool_call_finished"]
    ])
    const fromStart = await readEvents(await send(`${base}/events`, "approver"), ({ length }) => length >= 4)
    expect(fromStart).toHaveLength(4)
  })

  it.each(["-5", "1.5", "-1e999", "0x2", "", "9999999"])(
    "start afresh for a client that left off at %j",
    async (at) => {
      const { send, call, base } = await startServer()
      await call("read_file", { path: "a.txt" })
      const run = await runOf(send)
      const headers = { "last-event-id": `${run}:${at}` }
      const events = await readEvents(
        await send(`${base}/events`, "approver", { headers }),
        ({ length }) => length >= 2
      )
      expect(events.map(({ id }) => id)).toEqual([`${run}:1`, `${run}:2`])
    }
  )

  it("tell of questions that open and close, beside the record", async () => {
    const { send, call, post, base } = await startServer()
    const stream = await send(`${base}/events`, "approver")
    const reply = call("write_file", { path: "b.txt", content: "b" })
    const opened = await readEvents(stream, (events) => events.some(({ event }) => event === "approvals"))
    const { data } = opened.find(({ event }) => event === "approvals") ?? {}
    expect(data).toMatchObject({ type: "opened", request: { tool: "write_file", args: { path: "b.txt" } } })
    const { id } = data!["request"] as { id: string }
    await post(`${base}/approvals/${id}`, { approved: false, reason: "too soon" }, "approver")
    expect(await reply).toMatchObject({ ok: false })
    const { events } = (await (await send(`${base}/runs/${await runOf(send)}/events`, "approver")).json()) as {
      events: Array<{ type: string; reason?: string }>
    }
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ["tool_call_started", undefined],
      ["approval_requested", expect.any(String)],
      ["approval_decided", "too soon"],
      ["tool_call_finished", undefined]
    ])
  })
})

describe("an artifact", () => {
  it("is served whole and in parts, always as text", async () => {
    const { send, call, base } = await startServer()
    const reply = JSON.stringify(await call("run_command", { command: "seq 1 50000" }, "approver"))
    const path = /(?:logs|output)\/[\w./-]+/.exec(reply)?.[0] ?? "none"
    const url = `${base}/runs/${await runOf(send)}/artifacts/${path}`
    const whole = await send(url, "approver")
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
    const text = await whole.text()
    expect(text).toContain("\n50000\n")
    const part = async (range: string) => {
      const response = await send(url, "approver", { headers: { range } })
      return [response.status, response.headers.get("content-range"), await response.text()]
    }
    const size = Buffer.byteLength(text)
    expect(await part("bytes=0-9")).toEqual([206, `bytes 0-9/${size}`, text.slice(0, 10)])
    expect(await part("bytes=-6")).toEqual([206, `bytes ${size - 6}-${size - 1}/${size}`, text.slice(-6)])
    expect(await part(`bytes=${size - 3}-`)).toEqual([206, `bytes ${size - 3}-${size - 1}/${size}`, text.slice(-3)])
    expect(await part(`bytes=${size - 3}-${size + 9}`)).toEqual([
      206,
      `bytes ${size - 3}-${size - 1}/${size}`,
      text.slice(-3)
    ])
    for (const range of [`bytes=${size}-`, "bytes=-0", `bytes=${"9".repeat(400)}-`]) {
      expect((await part(range)).slice(0, 2)).toEqual([416, `bytes */${size}`])
    }
    // A header that is not one range of bytes is ignored.
    for (const range of ["bytes=5-2", "bytes=-", "lines=1-2", "bytes=0-1,3-4"]) {
      expect(await part(range)).toEqual([200, null, text])
    }
    const later = await send(url, "approver", { headers: { range: "bytes=0-9", "if-range": '"another"' } })
    expect([later.status, await later.text()]).toEqual([200, text])
    expect((await send(url, "agent")).status).toBe(403)
  })

  it.each(["logs/none", "..%2f..%2frules.json", "%2fetc%2fpasswd", "events.jsonl%00"])(
    "is not what %s names",
    async (path) => {
      const { send, base } = await startServer()
      const response = await send(`${base}/runs/${await runOf(send)}/artifacts/${path}`, "approver")
      expect(response.status).toBe(404)
      expect(await response.text()).not.toContain("/tmp")
    }
  )
})

const runOf = async (send: Awaited<ReturnType<typeof startServer>>["send"]): Promise<string> => {
  const { workspaces } = (await (await send("/v1/workspaces", "agent")).json()) as { workspaces: [{ run: string }] }
  return workspaces[0].run
}
