import * as z from "zod"

import { readEntries, type SearchProvider } from "./provider.ts"

const answerSchema = z.object({ results: z.array(z.unknown()) })
const entrySchema = z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() })
const errorSchema = z.object({ detail: z.union([z.string(), z.object({ error: z.string() })]) })

/** Tavily's search. */
export const tavily = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "tavily",
  isPaged: false,
  longest: { characters: 400 },
  request: ({ query, count }) => ({
    url: new URL(endpoint),
    headers: { authorization: `Bearer ${key}` },
    body: { query, max_results: count }
  }),
  results: (answer) =>
    readEntries(answerSchema.safeParse(answer).data?.results, entrySchema)?.map(({ title, url, content }) => ({
      title: title || url,
      url,
      snippet: content ?? ""
    })),
  complaint: (answer) => {
    const detail = errorSchema.safeParse(answer).data?.detail
    return typeof detail === "object" ? detail.error : detail
  },
  refusals: { 432: "the plan of this key is used up", 433: "the spending limit of this key is reached" }
})
