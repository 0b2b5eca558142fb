import * as z from "zod"

import { hostEntry, privateHostEntry } from "./safe-fetch/host-list.ts"

const key = z.string().min(1)
const endpoint = z.url({ protocol: /^https?$/ })

/** Which service answers searches. Keys come from here or from the host's environment, never from a call. */
const searchConfig = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("searxng"), endpoint }),
  z.strictObject({
    provider: z.literal("brave"),
    key,
    endpoint: endpoint.default("https://api.search.brave.com/res/v1/web/search")
  }),
  z.strictObject({ provider: z.literal("tavily"), key, endpoint: endpoint.default("https://api.tavily.com/search") }),
  z.strictObject({ provider: z.literal("exa"), key, endpoint: endpoint.default("https://api.exa.ai/search") })
])

/** Settings of a host for the web, which no call can change. */
export const webConfig = z
  .strictObject({
    allowedHosts: z
      .array(hostEntry)
      .default([])
      .describe("Hosts that are fetched without a question: `docs.example.com`, `*.example.org`"),
    privateHosts: z
      .array(privateHostEntry)
      .default([])
      .describe("Private hosts that can be reached at all, with their port: `localhost:8080`"),
    certificateAuthorities: z
      .array(z.string())
      .default([])
      .describe("Certificates, as PEM, that are trusted besides the usual ones"),
    userAgent: z
      .string()
      .regex(/^[\u0020-\u007E]+$/)
      .default("haft (fetches pages for a person's agent)")
      .describe("What servers are told about who asks"),
    maxBytes: z
      .number()
      .int()
      .min(1)
      .max(100 * 1024 * 1024)
      .default(5 * 1024 * 1024)
      .describe("Bytes of a response, after decompression"),
    requestsPerHost: z.number().int().min(1).max(100).default(4).describe("Requests to one host at the same time"),
    cache: z.boolean().default(true).describe("Keep responses in the state directory, for as long as HTTP allows"),
    robots: z.boolean().default(false).describe("Stay away from what a site's robots.txt forbids"),
    search: searchConfig.optional().describe("Which service answers searches, and its key")
  })
  .prefault({})

export type WebConfig = z.output<typeof webConfig>

export type SearchConfig = z.output<typeof searchConfig>

/** The search service that the environment names, for hosts that configure none. */
export const searchFromEnvironment = (
  environment: Readonly<Record<string, string | undefined>>
): SearchConfig | undefined => {
  const {
    SEARXNG_URL: searxng,
    BRAVE_API_KEY: brave,
    TAVILY_API_KEY: tavily,
    EXA_API_KEY: exa,
    HAFT_SEARCH_PROVIDER: wanted
  } = environment
  const candidates = [
    { provider: "searxng", endpoint: searxng },
    { provider: "brave", key: brave },
    { provider: "tavily", key: tavily },
    { provider: "exa", key: exa }
  ].filter(
    ({ provider, key, endpoint }) => (wanted === undefined || wanted === provider) && (key ?? endpoint) !== undefined
  )
  return candidates.map((candidate) => searchConfig.safeParse(candidate)).find(({ success }) => success)?.data
}
