import { isUtf8 } from "node:buffer"
import { BlockList, isIP } from "node:net"

import type { ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import type { buildConnector, Client } from "undici"

import { networkError, reasonOf } from "./network-error.ts"
import { acceptedEncodings, encodingsOf, readBody } from "./read-body.ts"
import type { Headers } from "./request-headers.ts"
import type { ResolvedAddress } from "./resolve-host.ts"

export interface ExchangeRequest {
  readonly url: URL
  readonly method: "GET" | "POST"
  readonly headers: Headers
  readonly body?: string
  /** Bytes of the body after decompression; what lies beyond is left out. */
  readonly maxBytes: number
}

export interface ExchangeResponse {
  readonly status: number
  /** Names in lower case, without the encodings that are undone already. */
  readonly headers: Headers
  readonly bytes: Uint8Array
  readonly truncated: boolean
}

/** A host that does not answer at all would otherwise keep its socket long after the deadline. */
const connectTimeoutMs = 30_000

const redirects = [301, 302, 303, 307, 308]

/** The place a response sends its reader to. */
export const redirectOf = ({ status, headers }: Pick<ExchangeResponse, "status" | "headers">): string | undefined =>
  redirects.includes(status) && headers["location"] !== undefined ? asUtf8(headers["location"]) : undefined

/** Headers arrive byte by byte; servers that do not escape a place's letters mean UTF-8. */
const asUtf8 = (header: string): string => {
  const bytes = Buffer.from(header, "latin1")
  return isUtf8(bytes) ? bytes.toString() : header
}

/**
 * One request and its response over a connection of its own, to one of `addresses`. No proxy and no environment
 * variable has a say in it. The deadline is the caller's: an interruption closes the connection.
 */
export const exchange = (
  request: ExchangeRequest,
  addresses: ReadonlyArray<ResolvedAddress>,
  certificateAuthorities: ReadonlyArray<string> | undefined
): Effect.Effect<ExchangeResponse, ToolError<"network_error">> =>
  Effect.acquireUseRelease(
    Effect.promise(() => openClient(request.url, addresses, certificateAuthorities)),
    (client) =>
      Effect.tryPromise({
        try: (signal) => send(client, request, signal),
        catch: (error) => networkError(request.url, error instanceof UnknownEncoding ? error.message : reasonOf(error))
      }),
    (client) => Effect.sync(() => client.destroy(() => {}))
  )

class UnknownEncoding extends Error {
  constructor(encoding: string) {
    super(`the response has the content encoding ${JSON.stringify(encoding.slice(0, 100))}, which can't be undone`)
  }
}

const send = async (
  client: Client,
  { url, method, headers, body, maxBytes }: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeResponse> => {
  const response = await client.request({
    path: `${url.pathname}${url.search}`,
    method,
    headers: { "accept-encoding": acceptedEncodings, ...headers },
    body: body ?? null,
    signal
  })
  // Errors after the last byte that is wanted concern nobody.
  response.body.on("error", () => {})
  const { "content-encoding": encoding = "", ...rest } = flatten(response.headers)
  const answer = { status: response.statusCode, headers: rest }
  if (redirectOf(answer) !== undefined) {
    response.body.destroy()
    return { ...answer, bytes: new Uint8Array(), truncated: false }
  }
  const encodings = encodingsOf(encoding)
  if (encodings === undefined) throw new UnknownEncoding(encoding)
  return { ...answer, ...(await readBody(response.body, encodings, maxBytes)) }
}

const flatten = (headers: Readonly<Record<string, string | Array<string> | undefined>>): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = ""]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(", ") : value
    ])
  )

// undici is more than half of what a host would load at its start, so it is loaded with the first request.
const openClient = async (
  url: URL,
  addresses: ReadonlyArray<ResolvedAddress>,
  certificateAuthorities: ReadonlyArray<string> | undefined
): Promise<Client> => {
  const undici = await import("undici")
  return new undici.Client(url.origin, {
    connect: pinnedConnector(undici.buildConnector, addresses, certificateAuthorities),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
    pipelining: 1
  })
}

/** Connects to the addresses that were checked. The name is never looked up a second time. */
const pinnedConnector = (
  build: typeof buildConnector,
  addresses: ReadonlyArray<ResolvedAddress>,
  certificateAuthorities: ReadonlyArray<string> | undefined
): buildConnector.connector => {
  const connect = build({
    timeout: connectTimeoutMs,
    maxCachedSessions: 0,
    lookup: (_hostname, options, callback) => {
      const [first] = addresses
      if (options.all === true) callback(null, [...addresses])
      else callback(null, first?.address ?? "", first?.family)
    },
    ...(certificateAuthorities !== undefined && { ca: [...certificateAuthorities] })
  })
  const pinned = new BlockList()
  for (const { address, family } of addresses) pinned.addAddress(address, family === 6 ? "ipv6" : "ipv4")
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      const remote = socket.remoteAddress ?? ""
      if (pinned.check(remote, isIP(remote) === 6 ? "ipv6" : "ipv4")) return callback(null, socket)
      socket.destroy()
      return callback(new Error("connected to an address that was not checked"), null)
    })
}
