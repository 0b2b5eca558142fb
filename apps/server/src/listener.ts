import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

import { NodeRequest, NodeResponse, sendNodeResponse } from "srvx/node"

import { type Answer, everyAnswer } from "./answer.ts"

export interface ListenerOptions {
  readonly onDefect: (error: unknown) => void
  readonly stalledMilliseconds: number
}

/** Hands requests of Node's own server over as standard ones, and writes the answers. */
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
  // A client that takes nothing of what is there for it is let go; a stream may well be silent for longer.
  const letGoWhenStalled = (): unknown =>
    response.setTimeout(stalledMilliseconds, () => response.writableLength > 0 && response.destroy())
  if (body instanceof ReadableStream) {
    // At once: a client must not wait for the first event to know that it is connected.
    response.writeHead(status, allHeaders).flushHeaders()
    letGoWhenStalled()
    return sendNodeResponse(response, new NodeResponse(body))
  }
  // In one piece, with its length: head and body leave in a single write.
  const length = body === null ? 0 : Buffer.byteLength(body)
  response.writeHead(status, { ...allHeaders, "content-length": length }).end(body)
  if (response.writableLength === 0 || socket.destroyed) return onSent?.()
  letGoWhenStalled()
  if (onSent === undefined) return undefined
  // A client may have as many answers on their way here as it has calls in flight.
  socket.setMaxListeners(0).once("close", onSent)
  return response.once("finish", () => {
    socket.off("close", onSent)
    onSent()
  })
}
