import { makeToolError, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { SearchConfig } from "../web-config.ts"
import { Web } from "../web.ts"
import { brave } from "./providers/brave.ts"
import { exa } from "./providers/exa.ts"
import type { SearchProvider, SearchQuery, SearchResult } from "./providers/provider.ts"
import { searxng } from "./providers/searxng.ts"
import { tavily } from "./providers/tavily.ts"

/** As many as every service can give. */
export const maxResults = 20
const maxPages = 3
const maxSnippet = 1000
const timeoutMs = 20_000

type SearchError = ToolError<"search_provider_missing" | "search_provider_failed" | "timeout">

export interface FoundPages {
  readonly provider: string
  readonly results: ReadonlyArray<SearchResult>
}

/** Asks the configured service until there are `count` results, or no more to be had. */
export const searchWeb = Effect.fnUntraced(function* (
  query: string,
  count: number
): Effect.fn.Return<FoundPages, SearchError, Web> {
  const { search } = yield* Web
  if (search === undefined) return yield* providerMissing
  const provider = providerOf(search)
  const found = new Map<string, SearchResult>()
  for (let page = 1; page <= (provider.isPaged ? maxPages : 1); page++) {
    const before = found.size
    for (const result of yield* ask(provider, { query, count, page })) {
      if (/^https?:\/\//i.test(result.url) && !found.has(result.url)) found.set(result.url, cleaned(result))
    }
    if (found.size >= count || found.size === before) break
  }
  return { provider: provider.name, results: [...found.values()].slice(0, count) }
})

const providerOf = (config: SearchConfig): SearchProvider => {
  if (config.provider === "searxng") return searxng(config)
  if (config.provider === "brave") return brave(config)
  return config.provider === "tavily" ? tavily(config) : exa(config)
}

// The way out is in the message: not every contract has a place for suggestions.
const providerMissing = toolError(
  "search_provider_missing",
  "no search service is configured: give the web tools search: { provider: 'searxng', endpoint } or " +
    "{ provider: 'brave' | 'tavily' | 'exa', key } in the host's configuration, or set SEARXNG_URL, BRAVE_API_KEY, " +
    "TAVILY_API_KEY or EXA_API_KEY in its environment",
  {
    suggestion: "Ask the person to configure a search service.",
    details: { providers: ["searxng", "brave", "tavily", "exa"] }
  }
)

const ask = Effect.fnUntraced(function* (provider: SearchProvider, query: SearchQuery) {
  const web = yield* Web
  const { url, headers, body } = provider.request(query)
  const response = yield* web
    .fetchFromProvider({
      url,
      timeoutMs,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    .pipe(Effect.mapError((error) => describe(provider, error)))
  if (response.status !== 200) return yield* refused(provider, response.status, response.headers["retry-after"])
  const results = provider.results(parseJson(response.bytes))
  return results ?? (yield* failed(provider, "its answer could not be understood"))
})

const describe = ({ name }: SearchProvider, error: ToolError): ToolError<"search_provider_failed" | "timeout"> =>
  error.code === "timeout"
    ? makeToolError("timeout", `${name} did not answer within ${timeoutMs / 1000} seconds`, {
        suggestion: "Try again later.",
        details: { provider: name },
        retryable: true
      })
    : failed({ name }, `it could not be reached (${String(error.details?.["reason"])})`, true)

const refused = (provider: SearchProvider, status: number, retryAfter: string | undefined) => {
  if ([402, 429, 432, 433].includes(status)) {
    const wait = retryAfter === undefined ? "" : `; it says to wait ${retryAfter.slice(0, 40)} seconds`
    return failed(provider, `too many requests, or its quota is used up (status ${status})${wait}`, true)
  }
  if ([401, 403, 422].includes(status))
    return failed(provider, `it did not accept the request or its key (status ${status})`)
  return failed(provider, `it answered with status ${status}`, status >= 500)
}

const failed = (
  { name }: Pick<SearchProvider, "name">,
  problem: string,
  retryable = false
): ToolError<"search_provider_failed"> =>
  makeToolError("search_provider_failed", `${name} gave no results: ${problem}`, {
    suggestion: retryable ? "Try again later." : "Ask the person to check the search service's configuration.",
    details: { provider: name, reason: problem },
    retryable
  })

const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

const cleaned = ({ title, url, snippet }: SearchResult): SearchResult => ({
  title: plain(title),
  url,
  snippet: plain(snippet).slice(0, maxSnippet)
})

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  "#x27": "'",
  nbsp: " "
}

/** Some services mark what matched with tags, and escape the rest. */
const plain = (text: string): string =>
  text
    .replaceAll(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replaceAll(/&(#?\w{2,5});/g, (entity, name: string) => entities[name.toLowerCase()] ?? entity)
    .replaceAll(/\s+/g, " ")
    .trim()
