import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { maxResults, searchWeb } from "./search-web.ts"

export const approvalgateWebSearch = approvalgate.tool({
  name: "web_search",
  operation: "search-web",
  description: "Search the web and return titles, addresses and snippets of what was found.",
  input: z.strictObject({
    query: z.string().min(1).max(2000).describe("What to look for"),
    numResults: z.number().int().min(1).max(maxResults).default(5).describe("Results to return at most")
  }),
  output: z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string() })) }),
  risk: "read_only",
  openWorld: true,
  asks: false,
  timeout: "70 seconds",
  execute: ({ query, numResults }) =>
    Effect.map(searchWeb(query, numResults), ({ results }) => ({ results: [...results] }))
})
