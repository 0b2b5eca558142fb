import { createHash } from "node:crypto"

import { StateFiles } from "@haft/core"
import * as Effect from "effect/Effect"
import CachePolicy from "http-cache-semantics"

import type { ExchangeRequest, ExchangeResponse } from "./exchange.ts"
import { type Headers, isImpersonal } from "./request-headers.ts"

const maxEntryBytes = 1024 * 1024

export interface CachedResponse extends ExchangeResponse {
  readonly fromCache: boolean
}

/**
 * Answers a request from the state directory where HTTP allows it, asks the server whether a stale answer still holds,
 * and keeps what may be kept. A cache that can't be used is no reason to fail.
 */
export const throughCache = Effect.fnUntraced(function* <E, R>(
  request: ExchangeRequest,
  send: (headers: Headers) => Effect.Effect<ExchangeResponse, E, R>
): Effect.fn.Return<CachedResponse, E, R | StateFiles> {
  if (request.method !== "GET" || !isImpersonal(request.headers)) {
    return { ...(yield* send(request.headers)), fromCache: false }
  }
  const cached = yield* read(request.url)
  const asked = { url: request.url.href, method: request.method, headers: { ...request.headers } }
  if (cached?.policy.satisfiesWithoutRevalidation(asked) === true) return fromCache(cached, request)

  const headers = cached === undefined ? request.headers : flat(cached.policy.revalidationHeaders(asked))
  const response = yield* send(headers)
  if (cached !== undefined && response.status === 304) {
    const { policy } = cached.policy.revalidatedPolicy(asked, response)
    const renewed = { ...cached, policy, headers: flat(policy.responseHeaders()) }
    yield* keep(request.url, renewed)
    return fromCache(renewed, request)
  }
  const policy = new CachePolicy(asked, { ...response, headers: { ...response.headers } }, { shared: false })
  const { status, headers: received, bytes } = response
  const isKept = policy.storable() && !response.truncated && bytes.length <= maxEntryBytes
  yield* isKept ? keep(request.url, { policy, status, headers: received, bytes }) : Effect.void
  return { ...response, fromCache: false }
})

interface Entry {
  readonly policy: CachePolicy
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

const fromCache = ({ status, headers, bytes }: Entry, { maxBytes }: ExchangeRequest): CachedResponse => ({
  status,
  headers,
  bytes: bytes.subarray(0, maxBytes),
  truncated: bytes.length > maxBytes,
  fromCache: true
})

/** A URL always falls into the same of 256 places, so the cache never grows beyond them and needs no sweeping. */
const placeOf = (url: URL): string => `cache/pages/${createHash("sha256").update(url.href).digest("hex").slice(0, 2)}`

// An entry is a line of JSON, and the body after it.
const keep = Effect.fnUntraced(function* (url: URL, { policy, status, headers, bytes }: Entry) {
  const state = yield* StateFiles
  const heading = JSON.stringify({ url: url.href, status, headers, policy: policy.toObject() })
  yield* Effect.ignore(state.write(placeOf(url), Buffer.concat([Buffer.from(`${heading}\n`), bytes])))
})

const read = Effect.fnUntraced(function* (url: URL) {
  const state = yield* StateFiles
  const stored = yield* state.read(placeOf(url)).pipe(Effect.orElseSucceed(() => undefined))
  return stored === undefined ? undefined : parseEntry(stored, url)
})

const parseEntry = (stored: Uint8Array, url: URL): Entry | undefined => {
  const end = stored.indexOf(10)
  try {
    const heading = JSON.parse(Buffer.from(stored.subarray(0, end)).toString()) as {
      readonly url: string
      readonly status: number
      readonly headers: Headers
      readonly policy: CachePolicy.CachePolicyObject
    }
    if (heading.url !== url.href) return undefined
    const { status, headers } = heading
    return { status, headers, policy: CachePolicy.fromObject(heading.policy), bytes: stored.subarray(end + 1) }
  } catch {
    return undefined
  }
}

const flat = (headers: CachePolicy.Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? "")]))
