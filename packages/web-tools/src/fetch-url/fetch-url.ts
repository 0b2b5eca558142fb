import type { ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { withoutHidden } from "../readable-page/hidden-characters.ts"
import { type ReadablePage, rawText, readablePage } from "../readable-page/readable-page.ts"
import type { FetchError, WebResponse } from "../safe-fetch/safe-fetch.ts"
import { Web } from "../web.ts"

export interface PageRequest {
  readonly url: string
  readonly timeoutMs: number
  readonly maxBytes?: number
  /** The text as the server sent it, instead of what it says to a person. */
  readonly raw?: boolean
}

export interface FetchedPage extends ReadablePage {
  readonly response: WebResponse
  /** As the header has it; empty when there is none. */
  readonly contentType: string
  /** How many characters that nobody sees were removed from the text. */
  readonly removedCharacters: number
}

/** Gets a page and makes it readable. */
export const fetchPage = Effect.fnUntraced(function* ({
  url,
  timeoutMs,
  maxBytes,
  raw = false
}: PageRequest): Effect.fn.Return<FetchedPage, FetchError, Web> {
  const web = yield* Web
  const response = yield* web.fetch({
    url: yield* web.target(url),
    method: "GET",
    headers: { accept: "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, */*;q=0.8" },
    timeoutMs,
    ...(maxBytes !== undefined && { maxBytes })
  })
  const contentType = response.headers["content-type"] ?? ""
  const content = { bytes: response.bytes, contentType, url: response.url.href }
  const page = raw ? { title: undefined, text: rawText(content) } : yield* readablePage(content)
  const { text, removed } = withoutHidden(page.text)
  const title = page.title === undefined ? undefined : withoutHidden(page.title).text
  return { ...page, title, text, removedCharacters: removed, response, contentType }
})

/** Request that a call is going to make, checked before anybody is asked about it. */
export const fetchTouches = ({
  url
}: {
  readonly url: string
}): Effect.Effect<{ readonly fetches: string }, ToolError<"invalid_url" | "url_blocked">, Web> =>
  Web.use((web) => web.target(url)).pipe(Effect.map(({ href }) => ({ fetches: href })))

/** Asks about every host that is not on the list. */
export const asksUnlessAllowed = ({ fetches }: { readonly fetches?: string }): Effect.Effect<boolean, never, Web> =>
  Web.useSync(({ isAllowed }) => fetches === undefined || !isAllowed(new URL(fetches)))
