import * as z from "zod"

import type { SearchProvider } from "./provider.ts"

const answerSchema = z.object({
  results: z.array(
    z.object({
      url: z.string(),
      title: z.string().nullish(),
      text: z.string().nullish(),
      highlights: z.array(z.string()).nullish()
    })
  )
})

/** Exa's search, with the passages that answer the query as snippets. */
export const exa = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "exa",
  isPaged: false,
  request: ({ query, count }) => ({
    url: new URL(endpoint),
    headers: { "x-api-key": key },
    body: { query, numResults: count, contents: { highlights: true } }
  }),
  results: (answer) =>
    answerSchema.safeParse(answer).data?.results.map(({ title, url, text, highlights }) => ({
      title: title ?? url,
      url,
      snippet: highlights?.join(" … ") ?? text ?? ""
    }))
})
