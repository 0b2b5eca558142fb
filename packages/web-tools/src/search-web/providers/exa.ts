import * as z from "zod"

import { readEntries, type SearchProvider } from "./provider.ts"

const answerSchema = z.object({ results: z.array(z.unknown()) })
const entrySchema = z.object({
  url: z.string(),
  title: z.string().nullish(),
  text: z.string().nullish(),
  highlights: z.array(z.string()).nullish()
})
const errorSchema = z.object({ error: z.string().optional(), tag: z.string().optional() })

/** Exa's search, with the passages that answer the query as snippets. */
export const exa = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "exa",
  isPaged: false,
  request: ({ query, count }) => ({
    url: new URL(endpoint),
    headers: { "x-api-key": key },
    body: { query, type: "auto", numResults: count, contents: { highlights: true } }
  }),
  results: (answer) =>
    readEntries(answerSchema.safeParse(answer).data?.results, entrySchema)?.map(({ title, url, text, highlights }) => ({
      title: title || url,
      url,
      snippet: highlights?.join(" … ") || (text ?? "")
    })),
  complaint: (answer) => {
    const { error, tag } = errorSchema.safeParse(answer).data ?? {}
    return error ?? tag
  },
  refusals: { 402: "its credits, or the budget of this key, are used up" }
})
