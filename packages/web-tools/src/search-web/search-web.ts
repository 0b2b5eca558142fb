import { makeToolError, type ToolError, toolError, visibleText } from "@haft/core"
import * as Effect from "effect/Effect"

import type { SearchConfig } from "../web-config.ts"
import { Web } from "../web.ts"
import { brave } from "./providers/brave.ts"
import { exa } from "./providers/exa.ts"
import type { SearchProvider, SearchQuery, WebSearchResult } from "./providers/provider.ts"
import { searxng } from "./providers/searxng.ts"
import { tavily } from "./providers/tavily.ts"

/** As many as every service can give. */
export const maxResults = 20
const maxPages = 3
const maxTitle = 300
const maxSnippet = 1000
const maxComplaint = 300
const timeoutMs = 20_000

type SearchError = ToolError<"invalid_params" | "search_provider_missing" | "search_provider_failed" | "timeout">

export interface FoundPages {
  readonly provider: string
  readonly results: ReadonlyArray<WebSearchResult>
}

/** Asks the configured service until there are `count` results, or no more to be had. */
export const searchWeb = Effect.fnUntraced(function* (
  query: string,
  count: number
): Effect.fn.Return<FoundPages, SearchError, Web> {
  const { search } = yield* Web
  if (search === undefined) return yield* providerMissing
  const provider = providerOf(search)
  yield* checkLength(provider, query)
  const found = new Map<string, WebSearchResult>()
  for (let page = 1; page <= (provider.isPaged ? maxPages : 1); page++) {
    const before = found.size
    for (const result of yield* ask(provider, { query, count, page })) {
      if (isAddress(result.url) && !found.has(result.url)) found.set(result.url, cleaned(result))
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

const checkLength = ({ name, longest }: SearchProvider, query: string) => {
  const { characters = Number.POSITIVE_INFINITY, words = Number.POSITIVE_INFINITY } = longest ?? {}
  if (query.length <= characters && query.trim().split(/\s+/).length <= words) return Effect.void
  const most = `${characters} characters${longest?.words === undefined ? "" : ` and ${longest.words} words`}`
  return toolError("invalid_params", `parameter 'query': ${name} takes at most ${most}`, {
    suggestion: "Search for less at once.",
    details: { parameter: "query", provider: name }
  })
}

/** A page that can be fetched, and whose address can be shown. */
const isAddress = (url: string): boolean => /^https?:\/\/[^\s\p{C}]+$/iu.test(url)

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
  const answer = parseJson(response.bytes)
  const complaint = provider.complaint(answer)
  const said = complaint === undefined ? undefined : quoted(complaint, headers)
  if (response.status !== 200) return yield* refused(provider, response, said)
  const results = provider.results(answer)
  if (results === undefined) return yield* failed(provider, "its answer could not be understood")
  // An empty answer with a complaint is no answer.
  return results.length === 0 && said !== undefined ? yield* failed(provider, said, true) : results
})

/** The service's own words, unless they repeat what it was told in confidence. */
const quoted = (complaint: string, headers: Readonly<Record<string, string>>): string | undefined => {
  const words = Object.values(headers).flatMap((value) => value.split(" "))
  const isTelling = words.some((word) => word.length > 7 && complaint.includes(word))
  return isTelling ? undefined : visibleText(plain(complaint).slice(0, maxComplaint))
}

const describe = ({ name }: SearchProvider, error: ToolError): ToolError<"search_provider_failed" | "timeout"> =>
  error.code === "timeout"
    ? makeToolError("timeout", `${name} did not answer within ${timeoutMs / 1000} seconds`, {
        suggestion: "Try again later.",
        details: { provider: name },
        retryable: true
      })
    : failed({ name }, `it could not be reached (${String(error.details?.["reason"])})`, true)

const refused = (
  provider: SearchProvider,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  said: string | undefined
) => {
  const meaning = provider.refusals?.[status] ?? meanings[status] ?? "it answered with an error"
  const problem = `${meaning} (status ${status}${said === undefined ? "" : `: ${said}`})`
  if (status !== 429) return failed(provider, problem, status >= 500 || status === 408)
  const seconds = provider.wait?.(headers) ?? headers["retry-after"]?.slice(0, 40)
  return failed(provider, seconds === undefined ? problem : `${problem}; it says to wait ${seconds} seconds`, true)
}

const meanings: Readonly<Record<number, string>> = {
  400: "it did not accept the request",
  401: "it did not accept its key",
  402: "its quota is used up",
  403: "it did not accept its key for this",
  422: "it did not accept the request",
  429: "there were too many requests, or its quota is used up"
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

const cleaned = ({ title, url, snippet }: WebSearchResult): WebSearchResult => ({
  title: plain(title).slice(0, maxTitle),
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
