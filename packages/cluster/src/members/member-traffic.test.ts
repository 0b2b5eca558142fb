import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"

import { generate } from "selfsigned"
import { afterEach, describe, expect, it } from "vitest"

import { ForwardError, type MemberTls, memberTraffic } from "./member-traffic.ts"

const secret = "a secret that all members share"

describe("traffic between members", () => {
  const servers: Array<Server> = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  /** A member that answers with the caller that it has verified; `change` changes requests on the way. */
  const listen = async (change: (request: Received) => Received = (request) => request, tls?: MemberTls) => {
    const traffic = memberTraffic({ secret, now: Date.now })
    const received: Array<Received> = []
    const answer = async (request: IncomingMessage): Promise<string> => {
      const chunks: Array<Buffer> = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const one = { method: request.method ?? "", path: request.url ?? "", headers, body: Buffer.concat(chunks) }
      received.push(one)
      return traffic.verify(change(one)) ?? "refused"
    }
    const handle = (request: IncomingMessage, response: { end: (text: string) => void }): void =>
      void answer(request).then((text) => response.end(text))
    const server =
      tls === undefined
        ? createServer(handle)
        : createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true }, handle)
    servers.push(server)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, received, traffic }
  }
  type Received = Parameters<ReturnType<typeof memberTraffic>["verify"]>[0]

  const send = async (
    address: string,
    options: { readonly secret?: string; readonly now?: () => number; readonly tls?: MemberTls } = {}
  ): Promise<string> => {
    const { forward } = memberTraffic({ secret, now: Date.now, ...options })
    const answer = await forward({
      address,
      method: "POST",
      path: "/v1/workspaces/default/calls?x=1",
      headers: { "content-type": "application/json", authorization: "Bearer of-the-caller", cookie: "a=b" },
      body: Buffer.from("{}"),
      caller: '{"role":"agent"}',
      signal: new AbortController().signal
    })
    return new Response(answer.body).text()
  }

  it("carries the caller, and leaves the caller's credentials behind", async () => {
    const { address, received } = await listen()
    expect(await send(address)).toBe('{"role":"agent"}')
    expect(received[0]?.headers.get("authorization")).toBeNull()
    expect(received[0]?.headers.get("cookie")).toBeNull()
    expect(received[0]?.headers.get("content-type")).toBe("application/json")
  })

  it.each<[string, (request: Received) => Received]>([
    ["body", (request) => ({ ...request, body: Buffer.from('{"tool":"x"}') })],
    ["path", (request) => ({ ...request, path: request.path.replace("default", "other") })],
    ["method", (request) => ({ ...request, method: "DELETE" })],
    [
      "caller",
      (request) => {
        const headers = new Headers(request.headers)
        headers.set("haft-member-caller", Buffer.from('{"role":"admin"}').toString("base64url"))
        return { ...request, headers }
      }
    ],
    ["signature", (request) => ({ ...request, headers: new Headers() })]
  ])("refuses a request whose %s was changed", async (_what, change) => {
    const { address } = await listen(change)
    expect(await send(address)).toBe("refused")
  })

  it("refuses a request that is sent a second time, or is too old, or signed with another secret", async () => {
    const { address, received, traffic } = await listen()
    expect(await send(address)).not.toBe("refused")
    expect(traffic.verify(received[0] as Received)).toBeUndefined()
    expect(await send(address, { now: () => Date.now() - 60_000 })).toBe("refused")
    expect(await send(address, { secret: "another secret, just as long" })).toBe("refused")
  })

  it("says that a member it could not connect to has not seen the request", async () => {
    const { address } = await listen()
    servers.splice(0).forEach((server) => server.close())
    await expect(send(address)).rejects.toMatchObject({ wasSent: false })
    await expect(send(address)).rejects.toBeInstanceOf(ForwardError)
  })

  it("is encrypted with TLS, and takes no connection without a certificate of the authority", async () => {
    const made = async (): Promise<MemberTls> => {
      const { cert, private: key } = await generate([{ name: "commonName", value: "member" }], {
        extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }]
      })
      return { cert, key, ca: cert }
    }
    const [ours, stranger] = [await made(), await made()]
    const { address } = await listen(undefined, ours)
    expect(await send(address, { tls: ours })).toBe('{"role":"agent"}')
    await expect(send(address, { tls: { ...stranger, ca: ours.ca } })).rejects.toThrow(address)
    await expect(send(address, { tls: stranger })).rejects.toMatchObject({ wasSent: false })
    await expect(send(address)).rejects.toThrow(address)
  })
})
