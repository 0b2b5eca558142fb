import { type StateFiles, type ToolError, toolError } from "@haft/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

import type { WebConfig } from "../web-config.ts"
import { exchange, type ExchangeRequest, type ExchangeResponse, redirectOf } from "./exchange.ts"
import { isNamedPrivate } from "./host-list.ts"
import type { HostQueue } from "./host-queue.ts"
import { networkError } from "./network-error.ts"
import { type CachedResponse, throughCache } from "./page-cache.ts"
import { type Headers, withoutCredentials } from "./request-headers.ts"
import { resolveTarget } from "./resolve-host.ts"
import { isAllowedByRobots } from "./robots.ts"
import { blocked, parseTarget, refuseBy } from "./target-url.ts"

const maxRedirects = 5

export interface WebRequest extends Omit<ExchangeRequest, "maxBytes"> {
  /** For everything together: waiting, names, connecting, headers, body, redirects. */
  readonly timeoutMs: number
  /** Less than the host's own limit; never more. */
  readonly maxBytes?: number
}

export interface WebResponse extends CachedResponse {
  /** Where the response came from in the end. */
  readonly url: URL
}

export type FetchError = ToolError<"invalid_url" | "url_blocked" | "network_error" | "timeout">

/** Services that a host lends to requests. */
export interface FetchSettings {
  readonly config: WebConfig
  readonly queue: HostQueue
  readonly certificateAuthorities: ReadonlyArray<string> | undefined
  /** True for a host that is fetched without a question. */
  readonly isAllowed: (url: URL) => boolean
  /** Why the host's network policy refuses a target; undefined where it does not. */
  readonly refusal: (url: URL) => string | undefined
  /** Puts a request on record, before it is sent and after its answer. */
  readonly record: <E, R>(
    request: ExchangeRequest,
    answer: Effect.Effect<ExchangeResponse, E, R>
  ) => Effect.Effect<ExchangeResponse, E | ToolError<"network_error">, R>
}

/** Sends a request, follows its redirects one by one, each checked like the first, all under one deadline. */
export const safeFetch = (
  settings: FetchSettings,
  { timeoutMs, ...request }: WebRequest
): Effect.Effect<WebResponse, FetchError, StateFiles> => {
  const maxBytes = Math.min(request.maxBytes ?? Number.POSITIVE_INFINITY, settings.config.maxBytes)
  return follow(settings, { ...request, maxBytes }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.millis(timeoutMs),
      orElse: () =>
        toolError("timeout", `${request.url.href} took longer than ${timeoutMs / 1000} seconds`, {
          suggestion: "Try again, with more time if the call allows it.",
          details: { url: request.url.href, timeout_ms: timeoutMs },
          retryable: true
        })
    })
  )
}

const follow = Effect.fnUntraced(function* (
  settings: FetchSettings,
  first: ExchangeRequest
): Effect.fn.Return<WebResponse, FetchError, StateFiles> {
  let request = first
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (settings.config.robots && request.url.pathname !== "/robots.txt") yield* obeyRobots(settings, request)
    const response = yield* fetchOnce(settings, request)
    const location = redirectOf(response)
    if (location === undefined) return { ...response, url: request.url }
    request = redirected(request, response.status, yield* nextTarget(settings, first.url, request.url, location))
    yield* refuseBy(settings.refusal, request.url)
  }
  return yield* networkError(first.url, `it was redirected more than ${maxRedirects} times`)
})

const fetchOnce = (
  { config, queue, certificateAuthorities, record }: FetchSettings,
  asked: ExchangeRequest
): Effect.Effect<CachedResponse, FetchError, StateFiles> => {
  const request = { ...asked, headers: { "user-agent": config.userAgent, ...asked.headers } }
  const send = (headers: Headers) =>
    queue(
      request.url.host,
      Effect.flatMap(resolveTarget(request.url, config.privateHosts), (addresses) =>
        record(request, exchange({ ...request, headers }, addresses, certificateAuthorities))
      )
    )
  return config.cache
    ? throughCache(request, send)
    : Effect.map(send(request.headers), (response) => ({ ...response, fromCache: false }))
}

/** Where a redirect may lead: a page that nobody was asked about can't send its reader where somebody would be asked. */
const nextTarget = Effect.fnUntraced(function* (
  { config: { privateHosts }, isAllowed }: FetchSettings,
  first: URL,
  from: URL,
  location: string
): Effect.fn.Return<URL, FetchError> {
  if (!URL.canParse(location, from.href)) return yield* networkError(from, "it redirects to something that is no URL")
  // A fault of the target is the fault of the page that redirects, not of the URL that was asked for.
  const to = yield* parseTarget(new URL(location, from).href, privateHosts).pipe(
    Effect.catchIf(
      ({ code }) => code === "invalid_url",
      ({ details }) => blocked(from, `it redirects to a URL that can't be used: ${String(details?.["reason"])}`, noWay)
    )
  )
  if (to.host === from.host && to.protocol === from.protocol) return to
  const again = `If you want that page, call again with ${to.href}.`
  if (from.protocol === "https:" && to.protocol === "http:") {
    return yield* blocked(from, "it redirects from https to http", again)
  }
  const isListed = isAllowed(to)
  if (isAllowed(first) && !isListed) {
    return yield* blocked(from, `it redirects to ${to.host}, which is not on the list of allowed hosts`, again)
  }
  if (isNamedPrivate(privateHosts, to) && !isNamedPrivate(privateHosts, from) && !isListed) {
    return yield* blocked(from, `it redirects to the private host ${to.host}`, again)
  }
  return to
})

const noWay = "There is nothing to fetch there."

const redirected = ({ body, ...request }: ExchangeRequest, status: number, url: URL): ExchangeRequest => {
  const headers = url.origin === request.url.origin ? request.headers : withoutCredentials(request.headers)
  const becomesGet = status === 303 || (request.method === "POST" && (status === 301 || status === 302))
  if (!becomesGet) return { ...request, url, headers, ...(body !== undefined && { body }) }
  const { "content-type": _type, ...rest } = headers
  return { ...request, url, method: "GET", headers: rest }
}

const obeyRobots = Effect.fnUntraced(function* (settings: FetchSettings, { url }: ExchangeRequest) {
  const robots: ExchangeRequest = { url: new URL("/robots.txt", url), method: "GET", headers: {}, maxBytes: 512 * 1024 }
  const response = yield* follow({ ...settings, config: { ...settings.config, robots: false } }, robots)
  // No robots.txt means yes to everything, a server in trouble means no.
  const isForbidden =
    response.status >= 500 ||
    (response.status < 300 &&
      !isAllowedByRobots(
        Buffer.from(response.bytes).toString(),
        settings.config.userAgent,
        `${url.pathname}${url.search}`
      ))
  return yield* isForbidden
    ? blocked(url, "the site's robots.txt forbids it", "Ask the person to look at the page themselves.")
    : Effect.void
})
