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
    const response = yield* send(request.headers)
    // A request that posted something may have changed the page.
    if (request.method !== "GET" && response.status < 400) yield* forget(request.url)
    return { ...response, fromCache: false }
  }
  const cached = yield* read(request.url)
  const asked = { url: request.url.href, method: request.method, headers: { ...request.headers } }
  if (cached?.policy.satisfiesWithoutRevalidation(asked) === true) return fromCache(cached, request)

  const headers = cached === undefined ? request.headers : flat(cached.policy.revalidationHeaders(asked))
  const isConditional = headers["if-none-match"] !== undefined || headers["if-modified-since"] !== undefined
  let response = yield* send(headers)
  if (cached !== undefined && isConditional && response.status === 304) {
    const { policy, matches } = cached.policy.revalidatedPolicy(asked, withValidators(response, cached))
    if (matches) {
      const renewed = { ...cached, policy }
      yield* policy.storable() ? keep(request.url, renewed) : forget(request.url)
      return fromCache(renewed, request)
    }
    // The 304 is about another version than the one that is kept, so the page is fetched anew.
    response = yield* send(request.headers)
  }
  const policy = new CachePolicy(asked, { ...response, headers: { ...response.headers } }, { shared: false })
  const { status, bytes } = response
  const isKept = policy.storable() && !response.truncated && bytes.length <= maxEntryBytes
  yield* isKept ? keep(request.url, { policy, status, bytes }) : Effect.void
  return { ...response, fromCache: false }
})

interface Entry {
  readonly policy: CachePolicy
  readonly status: number
  readonly bytes: Uint8Array
}

/** A server that says only "not modified" means the version it was asked about. */
const withValidators = ({ status, headers }: ExchangeResponse, { policy }: Entry) => {
  const { etag, "last-modified": modified } = flat(policy.responseHeaders())
  return {
    status,
    headers: {
      ...(etag !== undefined && { etag }),
      ...(modified !== undefined && { "last-modified": modified }),
      ...headers
    }
  }
}

const fromCache = ({ policy, status, bytes }: Entry, { maxBytes }: ExchangeRequest): CachedResponse => ({
  status,
  headers: flat(policy.responseHeaders()),
  bytes: bytes.subarray(0, maxBytes),
  truncated: bytes.length > maxBytes,
  fromCache: true
})

/** A URL always falls into the same of 256 places, so the cache never grows beyond them and needs no sweeping. */
const placeOf = (url: URL): string => `cache/pages/${createHash("sha256").update(url.href).digest("hex").slice(0, 2)}`

// An entry is a line of JSON, and the body after it.
const keep = Effect.fnUntraced(function* (url: URL, { policy, status, bytes }: Entry) {
  const state = yield* StateFiles
  const heading = JSON.stringify({ url: url.href, status, policy: policy.toObject() })
  yield* Effect.ignore(state.write(placeOf(url), Buffer.concat([Buffer.from(`${heading}\n`), bytes])))
})

const forget = Effect.fnUntraced(function* (url: URL) {
  const state = yield* StateFiles
  yield* Effect.ignore(state.remove(placeOf(url)))
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
      readonly policy: CachePolicy.CachePolicyObject
    }
    if (heading.url !== url.href) return undefined
    return { status: heading.status, policy: CachePolicy.fromObject(heading.policy), bytes: stored.subarray(end + 1) }
  } catch {
    return undefined
  }
}

const flat = (headers: CachePolicy.Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? "")]))
