import * as z from "zod"

import type { SearchProvider } from "./provider.ts"

const answerSchema = z.object({
  // Absent when nothing was found.
  web: z
    .object({
      results: z.array(z.object({ url: z.string(), title: z.string(), description: z.string().nullish() }))
    })
    .optional()
})

/** Brave Search's web search. */
export const brave = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "brave",
  isPaged: false,
  request: ({ query, count }) => {
    const url = new URL(endpoint)
    url.search = new URLSearchParams({ q: query, count: String(count), text_decorations: "false" }).toString()
    return { url, headers: { "x-subscription-token": key } }
  },
  results: (answer) => {
    const parsed = answerSchema.safeParse(answer)
    if (!parsed.success) return undefined
    const found = parsed.data.web?.results ?? []
    return found.map(({ title, url, description }) => ({ title, url, snippet: description ?? "" }))
  }
})
