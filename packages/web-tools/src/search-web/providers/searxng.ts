import * as z from "zod"

import type { SearchProvider } from "./provider.ts"

const answerSchema = z.object({
  results: z.array(z.object({ url: z.string(), title: z.string(), content: z.string().nullish() }))
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
    answerSchema
      .safeParse(answer)
      .data?.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" }))
})
