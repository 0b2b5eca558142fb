import * as z from "zod"

import { readEntries, type SearchProvider } from "./provider.ts"

const answerSchema = z.object({ results: z.array(z.unknown()) })
// Some kinds of results, such as a conversion or a piece of code, lead nowhere.
const entrySchema = z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() })
const errorSchema = z.object({
  error: z.string().optional(),
  results: z.array(z.unknown()).default([]),
  unresponsive_engines: z.array(z.tuple([z.string(), z.string()])).default([])
})

/** A SearXNG instance, which must have `json` among its `search.formats`. */
export const searxng = ({ endpoint }: { readonly endpoint: string }): SearchProvider => ({
  name: "searxng",
  isPaged: true,
  request: ({ query, page }) => {
    const url = new URL("search", endpoint.endsWith("/") ? endpoint : `${endpoint}/`)
    url.search = new URLSearchParams({ q: query, format: "json", pageno: String(page) }).toString()
    return { url, headers: {} }
  },
  results: (answer) =>
    readEntries(answerSchema.safeParse(answer).data?.results, entrySchema)?.map(({ title, url, content }) => ({
      title: title || url,
      url,
      snippet: content ?? ""
    })),
  complaint: (answer) => {
    const { error, results = [], unresponsive_engines: silent = [] } = errorSchema.safeParse(answer).data ?? {}
    if (error !== undefined || results.length > 0 || silent.length === 0) return error
    return `no engine answered: ${silent.map(([engine, reason]) => `${engine} (${reason})`).join(", ")}`
  },
  refusals: {
    403: "it gives no JSON: json must be in search.formats of its settings.yml",
    429: "there were too many requests, or its limiter keeps programs out"
  }
})
