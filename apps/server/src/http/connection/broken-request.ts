import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

import { everyAnswer } from "../answer.ts"
import { Problem } from "../problem.ts"

/** Answers what Node could not read as a request, with the same JSON as every other refusal. */
export const answerBrokenRequest = (error: NodeJS.ErrnoException, socket: Duplex & Answering): void => {
  // If another answer is being written on this connection, a second one would end up in the middle of it.
  if (!socket.writable || socket._httpMessage?.headersSent === true) return void socket.destroy()
  const { status, code, message } = problems[error.code ?? ""] ?? broken
  const body = JSON.stringify({ error: { code, message } })
  const headers = {
    ...everyAnswer,
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close"
  }
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map((pair) => pair.join(": "))
  ]
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy())
}

interface Answering {
  /** Node's own, undocumented: the response that is being written on this socket. */
  readonly _httpMessage?: { readonly headersSent: boolean } | null
}

const broken = new Problem(400, "invalid_request", "This is not a request as HTTP has them.")

const problems: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: new Problem(431, "headers_too_large", "The headers are larger than anybody needs."),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Problem(
    413,
    "body_too_large",
    "The chunks of the body carry too much besides it."
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, "too_slow", "The request took too long to arrive.")
}
