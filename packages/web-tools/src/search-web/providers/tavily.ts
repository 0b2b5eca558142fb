import * as z from "zod"

import type { SearchProvider } from "./provider.ts"

const answerSchema = z.object({
  results: z.array(z.object({ url: z.string(), title: z.string(), content: z.string().nullish() }))
})

/** Tavily's search. */
export const tavily = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "tavily",
  isPaged: false,
  request: ({ query, count }) => ({
    url: new URL(endpoint),
    headers: { authorization: `Bearer ${key}` },
    body: { query, max_results: count }
  }),
  results: (answer) =>
    answerSchema
      .safeParse(answer)
      .data?.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" }))
})
