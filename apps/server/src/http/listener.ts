import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

import { NodeRequest, NodeResponse, sendNodeResponse } from "srvx/node"

import { type Answer, everyAnswer } from "./answer.ts"

export interface ListenerOptions {
  readonly onDefect: (error: unknown) => void
  readonly stalledMilliseconds: number
}

/** Turns Node's requests into standard ones for `handle`, and writes its answers. */
export const listener =
  (handle: (request: Request) => Promise<Answer>, options: ListenerOptions): RequestListener =>
  (request: IncomingMessage, response: ServerResponse) => {
    handle(new NodeRequest({ req: request, res: response }))
      .then((answer) => write(request, response, answer, options))
      .catch((error: unknown) => {
        options.onDefect(error)
        response.destroy()
      })
  }

const write = (
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status = 200, headers, body, onSent }: Answer,
  { stalledMilliseconds }: ListenerOptions
): unknown => {
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
  // With a content-length and one `end`, Node sends headers and body in a single write.
  const length = body === null ? 0 : Buffer.byteLength(body)
  response.writeHead(status, { ...allHeaders, "content-length": length }).end(body)
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
