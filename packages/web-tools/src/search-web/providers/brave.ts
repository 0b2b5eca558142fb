import * as z from "zod"

import { readEntries, type SearchProvider } from "./provider.ts"

const answerSchema = z.object({
  type: z.literal("search"),
  // Absent when nothing was found.
  web: z.object({ results: z.array(z.unknown()) }).optional()
})
const entrySchema = z.object({ url: z.string(), title: z.string(), description: z.string().nullish() })
const errorSchema = z.object({ error: z.object({ code: z.string().optional(), detail: z.string().optional() }) })

/** Brave Search's web search. */
export const brave = ({ endpoint, key }: { readonly endpoint: string; readonly key: string }): SearchProvider => ({
  name: "brave",
  isPaged: false,
  longest: { characters: 400, words: 50 },
  request: ({ query, count }) => {
    const url = new URL(endpoint)
    const asked = { q: query, count: String(count), result_filter: "web", text_decorations: "false" }
    url.search = new URLSearchParams(asked).toString()
    return { url, headers: { "x-subscription-token": key } }
  },
  results: (answer) => {
    const parsed = answerSchema.safeParse(answer)
    if (!parsed.success) return undefined
    const entries = readEntries(parsed.data.web?.results ?? [], entrySchema)
    return entries?.map(({ title, url, description }) => ({ title, url, snippet: description ?? "" }))
  },
  complaint: (answer) => {
    const { code, detail } = errorSchema.safeParse(answer).data?.error ?? {}
    return detail ?? code
  },
  refusals: { 422: "it did not accept its key, or the request" },
  wait: secondsUntilReset
})

/** Brave counts by the second and by the month, and lists both: the wait is that of whichever is used up. */
const secondsUntilReset = (headers: Readonly<Record<string, string>>): number | undefined => {
  const numbers = (name: string): ReadonlyArray<number> => (headers[name] ?? "").split(",").map(Number)
  const left = numbers("x-ratelimit-remaining")
  const waits = numbers("x-ratelimit-reset").filter((seconds, place) => seconds > 0 && left[place] === 0)
  return waits.length === 0 ? undefined : Math.max(...waits)
}
