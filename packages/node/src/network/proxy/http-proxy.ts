import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as sendRequest,
  type Server,
  type ServerResponse
} from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream"
import { connect as connectSecurely } from "node:tls"

import { ConnectionRefused, type Endpoint } from "@haft/core"
import { canonicalHost, parseEndpoint, printEndpoint } from "@haft/core/internal"

import type { Brokered } from "../broker/credential-broker.ts"
import type { ProxySession } from "./proxy-session.ts"
import { terminate, tunnel } from "./tunnel.ts"

/** Speaks HTTP with the clients of one sandbox: as a proxy, or in the place of the one host that they mean. */
export class HttpProxy {
  readonly #session: ProxySession
  readonly #server: Server
  /** The host that a client means without saying so; absent for one that knows that it speaks with a proxy. */
  readonly #meant = new WeakMap<object, Meant>()
  readonly #agent: UpstreamAgent
  readonly #secureAgent: UpstreamAgent

  constructor(session: ProxySession) {
    this.#session = session
    this.#agent = new UpstreamAgent((endpoint) => openPlain(session, endpoint, "http"))
    this.#secureAgent = new UpstreamAgent((endpoint) => openSecure(session, endpoint, "brokered"))
    this.#server = createServer({
      keepAlive: true,
      // Java offers h2c with every request; who ignores it is spoken to in HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket"
    })
    this.#server.on("request", (request, response) => void this.#forward(request, response))
    this.#server.on("connect", (request, client, head) => void this.#connect(request, client as Socket, head))
    this.#server.on("upgrade", (request, client, head) => void this.#upgrade(request, client as Socket, head))
    this.#server.on("clientError", (_error, client) => {
      if (client.writable) client.end(message(400, "the request is not valid HTTP/1.1"))
    })
  }

  /** Takes a client over. With `endpoint`, all its requests are for that host. */
  serve(client: Socket, endpoint?: Endpoint): void {
    if (endpoint !== undefined) this.#meant.set(client, { endpoint, isBrokered: false })
    this.#server.emit("connection", client)
    client.resume()
  }

  /** Joins a client with a host: through a tunnel, or request by request where the host has a credential. */
  async join(client: Socket, endpoint: Endpoint, { protocol, head = Buffer.alloc(0), ready }: Joining): Promise<void> {
    if (this.#session.broker?.covers(endpoint) !== true) {
      const connection = await this.#session.connect(endpoint, protocol)
      ready?.()
      tunnel(this.#session, client, connection, head)
      return
    }
    await this.#session.admit(endpoint)
    ready?.()
    const serve = (inside: Socket): void => {
      this.#meant.set(inside, { endpoint, isBrokered: true })
      this.#server.emit("connection", inside)
    }
    terminate(this.#session, client, { endpoint, head, serve })
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#agent.destroy()
    this.#secureAgent.destroy()
  }

  async #connect(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on("error", () => undefined)
    const endpoint = parseEndpoint(request.url ?? "")
    if (endpoint === undefined || this.#meant.has(client)) {
      client.end(message(400, "CONNECT needs a host and a port"))
      return
    }
    try {
      if (endpoint.port === 80) {
        // Each request is looked at, not only the first.
        await this.#session.admit(endpoint)
        client.write(established)
        if (head.length > 0) client.unshift(head)
        this.serve(client, endpoint)
        return
      }
      await this.join(client, endpoint, { protocol: "connect", head, ready: () => client.write(established) })
    } catch (cause) {
      client.end(failure(cause, endpoint))
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(request, this.#meant.get(request.socket))
    if (typeof target === "string") return refuse(response, 400, target)
    const brokered = this.#inject(request, target)
    try {
      // Also where a connection to the host is open already.
      await this.#session.admit(target.endpoint)
      const upstream = sendRequest({
        agent: brokered === undefined ? this.#agent : this.#secureAgent,
        host: target.endpoint.host,
        port: target.endpoint.port,
        method: request.method ?? "GET",
        path: target.path,
        headers: { ...(brokered?.headers ?? forwarded(request.headers)), host: target.host },
        setHost: false
      })
      upstream.on("response", (answer) => {
        const headers = forwarded(answer.headers)
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, brokered?.clearHeaders(headers) ?? headers)
        if (brokered === undefined) pipeline(answer, response, () => undefined)
        else pipeline(answer, brokered.clearBody(), response, () => undefined)
      })
      upstream.on("error", (cause) => {
        const [status, reason] = statusOf(cause, target.endpoint)
        if (response.headersSent) response.destroy()
        else refuse(response, status, reason)
      })
      response.once("close", () => response.writableFinished || upstream.destroy())
      pipeline(request, upstream, () => undefined)
    } catch (cause) {
      refuse(response, ...statusOf(cause, target.endpoint))
    }
  }

  async #upgrade(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on("error", () => undefined)
    const target = targetOf(request, this.#meant.get(client))
    if (typeof target === "string" || request.headers.upgrade?.toLowerCase() !== "websocket") {
      client.end(message(400, typeof target === "string" ? target : "only websocket can be upgraded to"))
      return
    }
    try {
      const brokered = this.#inject(request, target)
      const open = brokered === undefined ? openPlain : openSecure
      const socket = await open(this.#session, target.endpoint, "websocket")
      const passed = brokered?.headers ?? forwarded(request.headers)
      const upstream = sendRequest({
        createConnection: () => socket,
        path: target.path,
        headers: { ...passed, host: target.host, ...upgrading },
        setHost: false
      })
      const headOf = (answer: IncomingMessage, more: IncomingHttpHeaders): string => {
        const headers = forwarded(answer.headers)
        return responseHead(answer, { ...(brokered?.clearHeaders(headers) ?? headers), ...more })
      }
      // Only a server that agrees is spoken to in another protocol. To one that answers otherwise the client could send
      // further requests, whose Host nobody looks at.
      upstream.on("upgrade", (answer, _socket, first) => {
        client.write(headOf(answer, upgrading))
        socket.unshift(first)
        if (head.length > 0) socket.write(head)
        client.once("close", () => client.readableEnded || socket.destroy())
        socket.once("close", () => socket.readableEnded || client.destroy())
        if (brokered === undefined) socket.pipe(client)
        else socket.pipe(brokered.clearBody()).pipe(client)
        client.pipe(socket)
      })
      upstream.on("response", (answer) => {
        client.write(headOf(answer, { connection: "close" }))
        if (brokered === undefined) pipeline(answer, client, () => undefined)
        else pipeline(answer, brokered.clearBody(), client, () => undefined)
      })
      upstream.on("error", (cause) => client.end(failure(cause, target.endpoint)))
      client.once("close", () => upstream.destroy())
      upstream.end()
    } catch (cause) {
      client.end(failure(cause, target.endpoint))
    }
  }

  /** Puts credentials into a request of a client whose TLS ends here. */
  #inject(request: IncomingMessage, { endpoint }: Target): Brokered | undefined {
    return this.#meant.get(request.socket)?.isBrokered === true
      ? this.#session.broker?.inject(endpoint, forwarded(request.headers))
      : undefined
  }
}

/** The host that a client means without saying so. */
interface Meant {
  readonly endpoint: Endpoint
  /** True where its TLS ends here. */
  readonly isBrokered: boolean
}

interface Joining {
  /** For the audit log. */
  readonly protocol: string
  /** Bytes that the client has sent already. */
  readonly head?: Buffer
  /** Tells the client that it may speak. */
  readonly ready?: () => unknown
}

const openPlain = async (session: ProxySession, endpoint: Endpoint, protocol: string): Promise<Socket> =>
  (await session.connect(endpoint, protocol)).upstream

const openSecure = async (session: ProxySession, endpoint: Endpoint, protocol: string): Promise<Socket> => {
  const socket = await openPlain(session, endpoint, protocol)
  const secure = connectSecurely({
    socket,
    servername: endpoint.host,
    ca: [...session.authorities],
    ALPNProtocols: ["http/1.1"]
  })
  await new Promise<void>((resolve, reject) => {
    secure.once("secureConnect", resolve).once("error", reject)
    secure.once("close", () => reject(new Error("it closed the connection")))
  }).catch((cause: unknown) => {
    socket.destroy()
    throw cause
  })
  secure.on("error", () => undefined)
  return secure
}

/** Keeps connections to hosts open for further requests of the same sandbox. */
class UpstreamAgent extends Agent {
  readonly #open: (endpoint: Endpoint) => Promise<Socket>

  constructor(open: (endpoint: Endpoint) => Promise<Socket>) {
    super({ keepAlive: true, timeout: 30_000, maxFreeSockets: 16 })
    this.#open = open
  }

  override createConnection(
    options: { readonly host?: string | null; readonly port?: number | string | null },
    callback?: (error: Error | null, socket: Socket) => void
  ): undefined {
    const endpoint = { host: options.host ?? "", port: Number(options.port) }
    void this.#connect(endpoint, callback ?? (() => undefined))
    return undefined
  }

  async #connect(endpoint: Endpoint, opened: (error: Error | null, socket: Socket) => void): Promise<void> {
    try {
      opened(null, await this.#open(endpoint))
    } catch (cause) {
      opened(cause as Error, undefined as never)
    }
  }
}

interface Target {
  readonly endpoint: Endpoint
  readonly path: string
  /** The Host header that the server gets. */
  readonly host: string
}

/** Where a request goes, or why it goes nowhere. There is one answer: a second Host, or another one, is refused. */
const targetOf = ({ url = "", rawHeaders, headers }: IncomingMessage, client: Meant | undefined): Target | string => {
  const meant = client?.endpoint
  const usualPort = client?.isBrokered === true ? 443 : 80
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host")
  if (hosts.length > 1) return "the request has more than one Host header"
  const [, authority, rest = ""] = /^http:\/\/([^/?#]+)([^#\s]*)$/i.exec(url) ?? []
  if (authority === undefined && (meant === undefined || !url.startsWith("/"))) {
    return "a proxy needs the whole address: http://host/path"
  }
  const named = authority === undefined ? meant : endpointOf(authority, usualPort)
  const header = headers.host === undefined ? named : endpointOf(headers.host, usualPort)
  if (named === undefined || header === undefined) return "the request's host can't be read"
  if (!isSame(named, header)) return "the Host header names another host than the address"
  if (meant !== undefined && !isSame(named, meant)) return `this connection is for ${printEndpoint(meant)}`
  const path = authority === undefined ? url : rest.startsWith("/") ? rest : `/${rest}`
  return { endpoint: named, path, host: named.port === usualPort ? bracketed(named.host) : printEndpoint(named) }
}

const endpointOf = (authority: string, port: number): Endpoint | undefined => {
  const host = canonicalHost(authority)
  return host === undefined || (host.includes(":") && !authority.startsWith("["))
    ? parseEndpoint(authority)
    : { host, port }
}

const isSame = (one: Endpoint, other: Endpoint): boolean => one.host === other.host && one.port === other.port

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** Headers of one hop, which are not passed on. */
const ofOneHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings"
]

const forwarded = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const named = (headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofOneHop.includes(name) && !named.includes(name))
  )
}

const upgrading = { connection: "Upgrade", upgrade: "websocket" }

const responseHead = ({ statusCode, statusMessage }: IncomingMessage, headers: IncomingHttpHeaders): string => {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((text) => `${name}: ${text}\r\n`)
  )
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

const statusOf = (cause: unknown, endpoint: Endpoint): readonly [status: 403 | 502, reason: string] =>
  cause instanceof ConnectionRefused
    ? [403, `haft refused the connection: ${cause.reason}`]
    : [502, `${printEndpoint(endpoint)} can't be reached: ${cause instanceof Error ? cause.message : String(cause)}`]

const failure = (cause: unknown, endpoint: Endpoint): string => message(...statusOf(cause, endpoint))

const message = (status: 400 | 403 | 502, reason: string): string => {
  const text = `${reason}\n`
  const phrase = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" }[status]
  return (
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
    `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`
  )
}

const refuse = (response: ServerResponse, status: 400 | 403 | 502, reason: string): void => {
  const body = Buffer.from(`${reason}\n`)
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": body.length, connection: "close" }
  // The rest of the request is not read.
  response.writeHead(status, headers).end(body)
}
