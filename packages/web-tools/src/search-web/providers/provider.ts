import type * as z from "zod"

/** Query of a web search. */
export interface SearchQuery {
  readonly query: string
  readonly count: number
  /** From 1; only for services that answer in pages. */
  readonly page: number
}

export interface WebSearchResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** One search service: how it is asked, and what its answers mean. It never sends anything itself. */
export interface SearchProvider {
  readonly name: string
  /** Answers in pages of its own size, so that many results take several requests. */
  readonly isPaged: boolean
  /** The longest query it takes. */
  readonly longest?: { readonly characters: number; readonly words?: number }
  readonly request: (query: SearchQuery) => {
    readonly url: URL
    readonly headers: Readonly<Record<string, string>>
    /** Sent as JSON, by POST. */
    readonly body?: unknown
  }
  /** Undefined when the answer is not in the service's documented shape. */
  readonly results: (answer: unknown) => ReadonlyArray<WebSearchResult> | undefined
  /** The service's own words for what went wrong, where its answer has any. */
  readonly complaint: (answer: unknown) => string | undefined
  /** Meaning of a status for this provider, where it differs from the usual one. */
  readonly refusals?: Readonly<Record<number, string>>
  /** Seconds to wait, for services that say so in a header of their own. */
  readonly wait?: (headers: Readonly<Record<string, string>>) => number | undefined
}

/** The entries of a list that have the documented shape; undefined when there are entries, and none of them has. */
export const readEntries = <S extends z.ZodType>(
  list: ReadonlyArray<unknown> | undefined,
  schema: S
): ReadonlyArray<z.output<S>> | undefined => {
  const read = list?.flatMap((entry) => {
    const parsed = schema.safeParse(entry)
    return parsed.success ? [parsed.data] : []
  })
  return read?.length === 0 && list?.length !== 0 ? undefined : read
}
