import { createHmac } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

import { describe, expect, it, onTestFinished } from "vitest"

import { type Running, startServer } from "./running.ts"

const key = "a-secret-key-of-this-test-with-32-bytes"
const secret = `whsec_${Buffer.from(key).toString("base64")}`

interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver that answers each delivery with the next status, and further ones with the last. */
const startReceiver = async (statuses: ReadonlyArray<number>) => {
  const received: Array<Delivery> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => (body += piece))
    request.on("end", () => {
      const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 200
      received.push({ headers: request.headers, body })
      response.writeHead(status, { location: "/elsewhere" }).end()
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/of-a-secret`, received }
}

const dataOf = ({ body }: Delivery) => JSON.parse(body) as { type: string; data: Record<string, unknown> }

const signatureOf = ({ headers, body }: Delivery): string => {
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
}

/** Denies the one open request. */
const deny = async ({ send, post, base }: Running): Promise<string> => {
  const { approvals } = (await (await send(`${base}/approvals`, "approver")).json()) as { approvals: [{ id: string }] }
  await post(`${base}/approvals/${approvals[0].id}`, { approved: false }, "approver")
  return approvals[0].id
}

describe("the webhook", () => {
  it("sends a signed message with a link when a request opens and when it ends", async () => {
    const { url, received } = await startReceiver([200])
    const running = await startServer({}, { webhook: { url, secret }, publicUrl: "https://haft.example" })
    const reply = running.call("write_file", { path: "b.txt", content: "confidential" })
    await expect.poll(() => received.length).toBe(1)
    const id = await deny(running)
    await reply
    await expect.poll(() => received.length).toBe(2)

    for (const delivery of received) {
      expect(delivery.headers["webhook-signature"]).toBe(signatureOf(delivery))
      expect(Math.abs(Date.now() / 1_000 - Number(delivery.headers["webhook-timestamp"]))).toBeLessThan(300)
      expect(delivery.body).not.toContain("confidential")
      expect(delivery.body).not.toContain("b.txt")
    }
    const listed = await running.send("/v1/workspaces", "approver")
    const { workspaces } = (await listed.json()) as { workspaces: [{ run: string }] }
    const about = {
      id,
      workspace: "default",
      tool: "write_file",
      agent: "agent",
      files: 1,
      link: `https://haft.example/#/default/approvals/${workspaces[0].run}.1`
    }
    expect(received.map(dataOf)).toMatchObject([
      { type: "approval.requested", data: about },
      { type: "approval.closed", data: { ...about, outcome: "denied", by: "approver" } }
    ])
    await expect
      .poll(async () => (await running.send("/metrics", "approver")).text())
      .toContain('haft_webhook_messages_total{outcome="delivered"} 2')
  })

  it("repeats a message under its id until it is received, and sends the end after the beginning", async () => {
    const { url, received } = await startReceiver([500, 429, 200])
    const running = await startServer({}, { webhook: { url, secret, retryMs: [200, 10] } })
    const reply = running.call("write_file", { path: "b.txt", content: "b" })
    await expect.poll(() => received.length).toBe(1)
    await deny(running)
    await reply
    await expect.poll(() => received.length).toBe(4)
    expect(received.map((delivery) => dataOf(delivery).type)).toEqual([
      "approval.requested",
      "approval.requested",
      "approval.requested",
      "approval.closed"
    ])
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(2)
    expect(running.defects).toEqual([])
  })

  it("gives up after the last attempt, follows no redirect, and names no path of its address", async () => {
    const { url, received } = await startReceiver([307])
    const running = await startServer({}, { webhook: { url, secret, retryMs: [1, 1] } })
    const reply = running.call("write_file", { path: "b.txt", content: "b" })
    await expect.poll(() => running.defects.length).toBe(1)
    expect(received).toHaveLength(3)
    expect(String(running.defects[0])).toContain(new URL(url).origin)
    expect(String(running.defects[0])).not.toContain("of-a-secret")
    await deny(running)
    await reply
  })

  it("does not hold up the server when its receiver is not there", async () => {
    const running = await startServer({}, { webhook: { url: "http://127.0.0.1:9/hook", secret, retryMs: [60_000] } })
    const reply = running.call("write_file", { path: "b.txt", content: "b" })
    await expect
      .poll(async () => (await running.send(`${running.base}/approvals`, "approver")).text())
      .toContain("b.txt")
    await deny(running)
    await reply
    await running.server.stop()
    expect(running.defects).toEqual([])
  })

  it("refuses a secret that is short or not in the form of Standard Webhooks", async () => {
    for (const wrong of ["whsec_c2hvcnQ=", "not-a-secret-of-the-standard-form", `${secret}!`]) {
      await expect(startServer({}, { webhook: { url: "http://127.0.0.1:9/", secret: wrong } })).rejects.toThrow(
        /whsec_/
      )
    }
  })
})
