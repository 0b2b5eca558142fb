/** What a route says. The headers that every answer carries are added on its way out. */
export interface Answer {
  /** 200 by default. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** To be called when a body that is no stream has left, or never will. */
  readonly onSent?: () => void
}

export const json = (
  value: unknown,
  { status = 200, headers = {} }: Pick<Answer, "status" | "headers"> = {}
): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

/** An answer that was made by others, as a standard response. */
export const answerOf = ({ status, headers, body }: Response): Answer => ({
  status,
  headers: Object.fromEntries(headers),
  body
})

/** The headers of every answer: they keep a browser from doing harm with what it gets. */
export const everyAnswer = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store"
}
