import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

import { NodeRequest, NodeResponse, sendNodeResponse } from "srvx/node"

import type { Answer } from "./answer.ts"

/** Hands requests of Node's own server over as standard ones, and writes the answers. */
export const listener =
  (handle: (request: Request) => Promise<Answer>, onDefect: (error: unknown) => void): RequestListener =>
  (request: IncomingMessage, response: ServerResponse) => {
    handle(new NodeRequest({ req: request, res: response }))
      .then((answer) => write(response, answer))
      .catch((error: unknown) => {
        onDefect(error)
        response.destroy()
      })
  }

const everyAnswer = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store"
}

const write = (response: ServerResponse, { status = 200, headers, body }: Answer): unknown => {
  const allHeaders = { ...everyAnswer, ...headers }
  if (body instanceof ReadableStream) {
    // At once: a client must not wait for the first event to know that it is connected.
    response.writeHead(status, allHeaders).flushHeaders()
    return sendNodeResponse(response, new NodeResponse(body))
  }
  // In one piece, with its length: head and body leave in a single write.
  const length = body === null ? 0 : Buffer.byteLength(body)
  return response.writeHead(status, { ...allHeaders, "content-length": length }).end(body)
}
