/** What a search is about. */
export interface SearchQuery {
  readonly query: string
  readonly count: number
  /** From 1; only for services that answer in pages. */
  readonly page: number
}

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** One search service: how it is asked, and what its answers mean. It never sends anything itself. */
export interface SearchProvider {
  readonly name: string
  /** Answers in pages of its own size, so that many results take several requests. */
  readonly isPaged: boolean
  readonly request: (query: SearchQuery) => {
    readonly url: URL
    readonly headers: Readonly<Record<string, string>>
    /** Sent as JSON, by POST. */
    readonly body?: unknown
  }
  /** Undefined when the answer is not in the service's documented shape. */
  readonly results: (answer: unknown) => ReadonlyArray<SearchResult> | undefined
}
