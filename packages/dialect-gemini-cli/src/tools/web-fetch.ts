import { asksUnlessAllowed, fetchPage, fetchTouches, markUntrusted } from "@haft/web-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli, worded } from "../dialect.ts"

const mostCharacters = 100_000
const timeoutMs = 30_000

const urlIn = (prompt: string): Effect.Effect<string, ReturnType<typeof noUrl>> => {
  const [url] = /https?:\/\/[^\s<>"'`]+/i.exec(prompt) ?? []
  return url === undefined ? Effect.fail(noUrl()) : Effect.succeed(url.replace(/[.,;:!?)\]}]+$/, ""))
}

const noUrl = () =>
  worded(
    "invalid_params",
    "The 'prompt' must contain at least one valid URL (starting with http:// or https://).",
    "invalid_tool_params"
  )

export const webFetch = geminiCli.tool({
  name: "web_fetch",
  operation: "fetch-url",
  description:
    "Fetch the first URL in the prompt and return the page as Markdown. No model answers the prompt here: apply it to the " +
    "page yourself.",
  input: z.strictObject({ prompt: z.string().describe("What to find out, with the URL to fetch") }),
  output: answer,
  risk: "dangerous",
  openWorld: true,
  idempotent: true,
  asks: asksUnlessAllowed,
  timeout: "60 seconds",
  touches: ({ prompt }) => Effect.flatMap(urlIn(prompt), (url) => fetchTouches({ url })),
  execute: Effect.fnUntraced(function* ({ prompt }) {
    const { text, response } = yield* fetchPage({ url: yield* urlIn(prompt), timeoutMs })
    const isCut = text.length > mostCharacters
    const shown = markUntrusted(text.slice(0, mostCharacters).toWellFormed(), response.url.host)
    return { llmContent: isCut ? `${shown}\n[${text.length - mostCharacters} characters left out]` : shown }
  }),
  render: ({ llmContent }) => llmContent
})
