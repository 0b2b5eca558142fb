import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"

import { NodeRequest, NodeResponse, sendNodeResponse } from "srvx/node"

import { sessionKeyHeader } from "../../identity.ts"
import { type HttpAnswer, everyAnswer } from "../answer.ts"

export interface ListenerOptions {
  readonly onDefect: (error: unknown) => void
  readonly stalledMilliseconds: number
}

/** Turns Node's requests into standard ones for `handle`, and writes its answers. */
export const listener =
  (handle: (request: Request) => Promise<HttpAnswer>, options: ListenerOptions): RequestListener =>
  (request: IncomingMessage, response: ServerResponse) => {
    handle(new NodeRequest({ req: request, res: response }))
      .then((answer) => write(request, response, answer, options))
      .catch((error: unknown) => {
        options.onDefect(error)
        response.destroy()
      })
  }

const write = (
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, headers, body, onSent }: HttpAnswer,
  { stalledMilliseconds }: ListenerOptions
): unknown => {
  const { socket } = request
  const allHeaders = { ...everyAnswer, ...headers }
  // Disconnects a client that does not read what waits for it. A stream that has nothing to send is not affected.
  const letGoWhenStalled = (): unknown =>
    response.setTimeout(stalledMilliseconds, () => response.writableLength > 0 && response.destroy())
  if (body instanceof ReadableStream) {
    // The headers are sent at once, so that a client knows it is connected before the first event.
    response.writeHead(status, allHeaders).flushHeaders()
    letGoWhenStalled()
    return sendNodeResponse(response, new NodeResponse(body))
  }
  if (headers?.["connection"] === "close" && !request.complete) {
    response.writeHead(status, { ...allHeaders, "content-length": Buffer.byteLength(body ?? "") }).write(body ?? "")
    return discard(request, () => response.end(() => onSent?.()))
  }
  const packed = typeof body === "string" && isWorthPacking(request, body) ? gzipSync(body) : undefined
  const sent = packed ?? body
  // With a content-length and one `end`, Node sends headers and body in a single write.
  const length = sent === null ? 0 : Buffer.byteLength(sent)
  const encoding = packed === undefined ? {} : { "content-encoding": "gzip", vary: "accept-encoding" }
  response.writeHead(status, { ...allHeaders, ...encoding, "content-length": length }).end(sent)
  if (response.writableLength === 0 || socket.destroyed) return onSent?.()
  letGoWhenStalled()
  if (onSent === undefined) return undefined
  // Pipelined requests may add many listeners to one socket, which is not the leak that Node would warn about.
  socket.setMaxListeners(0).once("close", onSent)
  return response.once("finish", () => {
    socket.off("close", onSent)
    onSent()
  })
}

const leastPacked = 1_024
/** Packing more would hold up other requests. */
const mostPacked = 1024 * 1024

/**
 * Tests for the answer to a browser that gets smaller by compression. Programs call from nearby, and gain nothing. What the
 * browser's session sends it by is not in the answer, so its size tells nothing about that.
 */
const isWorthPacking = ({ headers }: IncomingMessage, body: string): boolean =>
  headers[sessionKeyHeader] !== undefined &&
  body.length >= leastPacked &&
  body.length <= mostPacked &&
  /\bgzip\b/.test(headers["accept-encoding"]?.toString() ?? "")

const mostDiscarded = 64 * 1024 * 1024
const longestDiscardMs = 5_000

// Lingering close: a connection that is closed while bytes of its client are unread is reset, and a client that writes
// its whole request before it reads would lose the answer. So the rest is read and discarded, within limits.
const discard = (request: IncomingMessage, onDone: () => void): void => {
  let size = 0
  const done = (): void => {
    clearTimeout(timer)
    request.off("data", onData).off("end", done).off("close", done).pause()
    onDone()
  }
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > mostDiscarded) done()
  }
  const timer = setTimeout(done, longestDiscardMs)
  request.on("data", onData).on("end", done).on("close", done).resume()
}
