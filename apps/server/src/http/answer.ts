/** Response of a route. The headers of `everyAnswer` are added when it is written. */
export interface HttpAnswer {
  /** 200 by default. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** Called when the body has been sent, or the connection is gone. Not for streams. */
  readonly onSent?: () => void
}

export const json = (
  value: unknown,
  { status = 200, headers = {} }: Pick<HttpAnswer, "status" | "headers"> = {}
): HttpAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

/** A standard response as an answer. */
export const answerOf = ({ status, headers, body }: Response): HttpAnswer => ({
  status,
  headers: Object.fromEntries(headers),
  body
})

/** The headers of every answer: they keep browsers from running, embedding, sniffing or caching it. */
export const everyAnswer = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store"
}
