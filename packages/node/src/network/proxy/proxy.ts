import { Socket as DatagramSocket } from "node:dgram"
import type { Server, Socket } from "node:net"

import { ConnectionRefused } from "@haft/core"

import { answerQuery } from "./dns-answer.ts"
import { HttpProxy } from "./http-proxy.ts"
import { ProxySession, type SessionOptions } from "./proxy-session.ts"
import { readSocksRequest, socksReplies, socksReply } from "./socks.ts"

/** Port inside a sandbox that speaks HTTP (CONNECT and plain) and SOCKS 5. */
export const proxyPort = 3128

/** How long a client may take to say its first byte. */
const firstByteMs = 60_000

/** The way out of one sandbox: a proxy, a name server, and listeners that stand in for hosts. */
export class SandboxProxy {
  readonly #session: ProxySession
  readonly #http: HttpProxy

  constructor(options: SessionOptions) {
    this.#session = new ProxySession(options)
    this.#http = new HttpProxy(this.#session)
  }

  /** Serves a socket that was made in the sandbox's network namespace. */
  readonly serve = (socket: Server | DatagramSocket): void => {
    this.#session.hold(socket)
    if (this.#session.isClosed) return
    if (socket instanceof DatagramSocket) {
      socket.on("message", (query, { address, port }) => {
        const answer = answerQuery(query, (name) => this.#session.standIns.addressOf(name))
        if (answer !== undefined) socket.send(answer, port, address)
      })
      return
    }
    const own = socket.address()
    const isProxy = typeof own === "object" && own?.port === proxyPort
    Object.assign(socket, { allowHalfOpen: true })
    socket.on("connection", (client: Socket) => {
      if (!this.#session.accept(client)) return
      if (isProxy) this.#greet(client)
      else void this.#standIn(client)
    })
  }

  async close(): Promise<void> {
    this.#http.close()
    await this.#session.close()
  }

  #greet(client: Socket): void {
    client.setTimeout(firstByteMs, () => client.destroy())
    client.once("data", (chunk: Buffer) => {
      client.setTimeout(0)
      client.removeAllListeners("timeout")
      client.pause()
      client.unshift(chunk)
      const [first = 0] = chunk
      if (first === 5) void this.#socks(client)
      else if (first >= 0x41 && first <= 0x5a) this.#http.serve(client)
      else client.destroy()
    })
  }

  async #socks(client: Socket): Promise<void> {
    const request = await readSocksRequest(client, (address) => this.#session.standIns.nameOf(address)).catch(
      () => undefined
    )
    if (request === undefined) return void client.end()
    const { endpoint, rest } = request
    try {
      if (endpoint.port === 80) {
        client.write(socksReply(socksReplies.connected))
        if (rest.length > 0) client.unshift(rest)
        this.#http.serve(client, endpoint)
        return
      }
      const ready = (): boolean => client.write(socksReply(socksReplies.connected))
      await this.#http.join(client, endpoint, { protocol: "socks", head: rest, ready })
    } catch (cause) {
      client.end(socksReply(cause instanceof ConnectionRefused ? socksReplies.forbidden : socksReplies.failed))
    }
  }

  /** Serves a client that connected to the address that stands for a host. */
  async #standIn(client: Socket): Promise<void> {
    const host = this.#session.standIns.nameOf(client.localAddress ?? "")
    const port = client.localPort
    if (host === undefined || port === undefined) return void client.resetAndDestroy()
    const endpoint = { host, port }
    if (port === 80) return this.#http.serve(client, endpoint)
    try {
      await this.#http.join(client, endpoint, { protocol: "direct" })
    } catch {
      client.resetAndDestroy()
    }
  }
}
