import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** Request that a scripted API was sent. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** An API on loopback that answers by script, for a vendor's own client. */
export interface ScriptedApi {
  readonly url: string
  readonly requests: ReadonlyArray<SentRequest>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Answers each request with what `answer` returns: an object as JSON, a text as server-sent events. */
export const scriptedApi = async (
  answer: (request: SentRequest, count: number) => object | string
): Promise<ScriptedApi> => {
  const requests: Array<SentRequest> = []
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = {
      method: incoming.method ?? "",
      path: (incoming.url ?? "").replace(/\?.*$/, ""),
      body: await bodyOf(incoming)
    }
    requests.push(request)
    const answered = answer(request, requests.length)
    const isStream = typeof answered === "string"
    response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
    response.end(isStream ? answered : JSON.stringify(answered))
  }
  const server = createServer((incoming, response) => void respond(incoming, response))
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      })
  }
}

const bodyOf = async (incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array)
  const text = Buffer.concat(chunks).toString("utf8")
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)
}
