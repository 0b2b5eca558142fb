import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import { request as httpRequest, type IncomingMessage, Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { Readable } from "node:stream"

/** Certificates for traffic between members, each in PEM. Both sides present theirs, signed by the authority. */
export interface MemberTls {
  readonly cert: string
  readonly key: string
  readonly ca: string
}

export interface TrafficOptions {
  /** Shared secret of all members. */
  readonly secret: string
  readonly tls?: MemberTls
  /** The clock that all members share: that of the database. */
  readonly now: () => number
}

/** A request that a member passes on to the owner of a workspace. */
export interface ForwardedRequest {
  readonly address: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The caller as the first member has identified it, as JSON. */
  readonly caller: string
  readonly signal: AbortSignal
}

export interface ForwardedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReadableStream<Uint8Array>
}

/** Why a request could not be passed on. */
export class ForwardError extends Error {
  override readonly name = "ForwardError"
  /** False when the connection failed before anything was sent: the owner has not seen the request. */
  readonly wasSent: boolean
  constructor(message: string, wasSent: boolean) {
    super(message)
    this.wasSent = wasSent
  }
}

/** Traffic between members: each request is signed, body included, and counts once. */
export interface MemberTraffic {
  readonly forward: (request: ForwardedRequest) => Promise<ForwardedAnswer>
  /** The caller of a request of another member; undefined when it is not signed by one. */
  readonly verify: (request: {
    readonly method: string
    readonly path: string
    readonly headers: Headers
    readonly body: Uint8Array
  }) => string | undefined
}

const signatureHeader = "haft-member-signature"
const callerHeader = "haft-member-caller"
const timeHeader = "haft-member-time"
const nonceHeader = "haft-member-nonce"

/** Milliseconds that a signature is good for, by the database's clock. */
const validMs = 30_000

/** Headers of a connection or of this protocol, which are not passed on. */
const notForwarded = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "proxy-authorization",
  "proxy-authenticate",
  "host",
  "content-length",
  "authorization",
  "cookie",
  "origin",
  "expect",
  signatureHeader,
  callerHeader,
  timeHeader,
  nonceHeader
])

export const memberTraffic = ({ secret, tls, now }: TrafficOptions): MemberTraffic => {
  const key = createHash("sha256").update(`haft member traffic\n${secret}`).digest()
  const agent = tls === undefined ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true, ...tls })
  const seen = new Map<string, number>()

  const sign = (parts: ReadonlyArray<string>, body: Uint8Array): Buffer =>
    createHmac("sha256", key).update(JSON.stringify(parts)).update(createHash("sha256").update(body).digest()).digest()

  const isFirst = (nonce: string): boolean => {
    const limit = now() - 2 * validMs
    for (const [old, time] of seen) {
      if (time > limit) break
      seen.delete(old)
    }
    if (seen.has(nonce)) return false
    seen.set(nonce, now())
    return true
  }

  return {
    forward: ({ address, method, path, headers, body, caller, signal }) =>
      new Promise((resolve, reject) => {
        const [time, nonce] = [String(Math.round(now())), randomUUID()]
        const passed = Object.fromEntries(
          Object.entries(headers).filter(([name]) => !notForwarded.has(name.toLowerCase()))
        )
        const encoded = Buffer.from(caller).toString("base64url")
        const { hostname, port } = new URL(`http://${address}`)
        let wasSent = false
        const outgoing = (tls === undefined ? httpRequest : httpsRequest)({
          agent,
          host: hostname.replaceAll(/^\[|\]$/g, ""),
          port,
          method,
          path,
          headers: {
            ...passed,
            "content-length": body.length,
            [callerHeader]: encoded,
            [timeHeader]: time,
            [nonceHeader]: nonce,
            [signatureHeader]: sign([method, path, encoded, time, nonce], body).toString("hex")
          }
        })
        const abort = (): void => void outgoing.destroy(new Error("aborted"))
        signal.addEventListener("abort", abort, { once: true })
        outgoing.once("socket", (socket) => {
          if (!socket.connecting) wasSent = true
          else socket.once(tls === undefined ? "connect" : "secureConnect", () => (wasSent = true))
        })
        outgoing.once("error", (error) => {
          signal.removeEventListener("abort", abort)
          reject(new ForwardError(`member ${address}: ${error.message}`, wasSent))
        })
        outgoing.once("response", (response) => {
          response.once("close", () => signal.removeEventListener("abort", abort))
          resolve({
            status: response.statusCode ?? 502,
            headers: plainHeaders(response),
            body: Readable.toWeb(response) as ReadableStream<Uint8Array>
          })
        })
        outgoing.end(body)
      }),
    verify: ({ method, path, headers, body }) => {
      const [caller, time, nonce, signature] = [callerHeader, timeHeader, nonceHeader, signatureHeader].map(
        (name) => headers.get(name) ?? ""
      )
      if (caller === undefined || time === undefined || nonce === undefined || signature === undefined) return undefined
      if (!/^[\da-f]{64}$/.test(signature) || !/^\d{1,15}$/.test(time) || nonce.length > 64) return undefined
      const expected = sign([method, path, caller, time, nonce], body)
      if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) return undefined
      if (Math.abs(now() - Number(time)) > validMs || !isFirst(nonce)) return undefined
      return Buffer.from(caller, "base64url").toString()
    }
  }
}

const plainHeaders = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || notForwarded.has(name) ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
    )
  )
