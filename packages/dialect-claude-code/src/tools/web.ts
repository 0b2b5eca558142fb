import { toolError } from "@haft/core"
import {
  asksUnlessAllowed,
  fetchPage,
  fetchTouches,
  markUntrusted,
  maxResults,
  searchWeb
} from "@haft/web-tools/operations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { worded } from "../worded.ts"

const mostCharacters = 100_000
const timeoutMs = 60_000

export const webFetch = claudeCode.tool({
  name: "WebFetch",
  operation: "fetch-url",
  description:
    "Fetch a page and return it as Markdown. No model answers the prompt here: apply it to the page yourself. Long pages " +
    "come in parts: call again with offset.",
  input: z.strictObject({
    url: z.string().describe("Address of the page; http becomes https"),
    prompt: z.string().describe("What to find out from the page"),
    offset: z.number().optional().describe("Character of the page's text to begin at, counted from 0")
  }),
  output: z.object({
    bytes: z.number(),
    code: z.number(),
    codeText: z.string(),
    result: z.string(),
    durationMs: z.number(),
    url: z.string()
  }),
  risk: "dangerous",
  openWorld: true,
  idempotent: true,
  asks: asksUnlessAllowed,
  timeout: "90 seconds",
  touches: ({ url }) => fetchTouches({ url: secured(url) }),
  execute: Effect.fnUntraced(function* ({ url, offset = 0 }) {
    const began = yield* Clock.currentTimeMillis
    const { text, response } = yield* fetchPage({ url: secured(url), timeoutMs })
    const start = Math.max(0, Math.floor(offset))
    if (start > 0 && start >= text.length) {
      return yield* toolError("invalid_range", `the text has ${text.length} characters, so none at ${start}`, {
        suggestion: "Choose a smaller offset."
      })
    }
    const end = Math.min(text.length, start + mostCharacters)
    const left = end < text.length ? `\n\n[Content truncated: continue with offset ${end} of ${text.length}]` : ""
    return {
      bytes: response.bytes.length,
      code: response.status,
      codeText: statusTexts[response.status] ?? "",
      result: `${markUntrusted(text.slice(start, end).toWellFormed(), response.url.host)}${left}`,
      durationMs: (yield* Clock.currentTimeMillis) - began,
      url
    }
  }),
  render: ({ result }) => result
})

/** Pages are fetched over TLS, except from hosts that are named without a domain, such as localhost, or by number. */
const secured = (url: string): string =>
  /^http:\/\/(?:localhost|\[|\d+\.\d+\.\d+\.\d+|[^./:]+)(?:[:/]|$)/i.test(url) ? url : url.replace(/^http:/i, "https:")

const statusTexts: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  410: "Gone",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable"
}

export const webSearch = claudeCode.tool({
  name: "WebSearch",
  operation: "search-web",
  description: "Search the web, in all of it, in some domains, or in all but some.",
  input: z.strictObject({
    query: z.string().min(2).describe("What to look for"),
    allowed_domains: z.array(z.string()).optional().describe("Only results from these domains"),
    blocked_domains: z.array(z.string()).optional().describe("No results from these domains")
  }),
  output: z.object({
    query: z.string(),
    results: z.array(
      z.object({
        tool_use_id: z.string(),
        content: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string().optional() }))
      })
    ),
    durationSeconds: z.number(),
    searchCount: z.number().optional()
  }),
  risk: "read_only",
  openWorld: true,
  asks: false,
  timeout: "70 seconds",
  execute: Effect.fnUntraced(function* ({ query, allowed_domains: allowed = [], blocked_domains: blocked = [] }) {
    if (allowed.length > 0 && blocked.length > 0) {
      return yield* worded(
        "invalid_params",
        "Error: Cannot specify both allowed_domains and blocked_domains in the same request"
      )
    }
    const began = yield* Clock.currentTimeMillis
    const { results } = yield* searchWeb(query, maxResults)
    const isWanted = (url: string): boolean =>
      (allowed.length === 0 || allowed.some((domain) => isIn(url, domain))) &&
      !blocked.some((domain) => isIn(url, domain))
    const content = results
      .filter(({ url }) => isWanted(url))
      .map(({ title, url, snippet }) => ({ title, url, snippet }))
    const durationSeconds = ((yield* Clock.currentTimeMillis) - began) / 1000
    return { query, results: [{ tool_use_id: "search", content }], durationSeconds, searchCount: 1 }
  }),
  render: ({ query, results }) => {
    const links = results.flatMap(({ content }) => content)
    const found = links.length === 0 ? "No links found." : `Links: ${JSON.stringify(links)}`
    return `Web search results for query: ${JSON.stringify(query)}\n\n${markUntrusted(found, "a search")}`
  }
})

const isIn = (url: string, domain: string): boolean => {
  const { hostname } = new URL(url)
  const wanted = domain.toLowerCase().replace(/^\*?\./, "")
  return hostname === wanted || hostname.endsWith(`.${wanted}`)
}
