import { randomUUID } from "node:crypto"

import {
  createMcpHandler,
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"

import type { McpServerFactory } from "./server.ts"

export interface McpFetchHandler {
  /** Answers a request. `body` is the parsed body, if the server has read it already, within its own limits. */
  readonly fetch: (request: Request, body?: unknown) => Promise<Response>
  /** Ends every session. */
  readonly close: () => Promise<void>
}

const maximumSessions = 100
/** Messages of one batch, which protocols before 2025-06-18 have: they are handled in one turn of the event loop. */
const mostBatched = 100
/** How many cancellations are remembered for requests that have not arrived yet. */
const mostOvertaking = 100

/**
 * MCP over HTTP as a fetch handler. In the protocol of 2026-07-28 every request stands alone; the older ones need
 * sessions, because only in a session can the server send a question to the client. It checks no tokens: that is left
 * to the server around it.
 */
export const mcpFetchHandler = (factory: McpServerFactory): McpFetchHandler => {
  const modern = createMcpHandler(factory, { legacy: "reject" })
  const sessions = new Map<string, Session>()

  const legacy = async (request: Request, body: unknown): Promise<Response> => {
    const id = request.headers.get("mcp-session-id")
    if (id !== null) {
      const session = sessions.get(id)
      if (session === undefined) return noSession()
      // Moved to the end, so that the first one is the one that was not used for longest: it is closed if there are too
      // many.
      sessions.delete(id)
      sessions.set(id, session)
      const requests = [body].flat().filter(isJSONRPCRequest)
      const reused = requests.find(
        ({ id }, place) => session.open.has(id) || requests.findIndex((other) => other.id === id) < place
      )
      if (reused !== undefined) return idInUse(reused.id)
      cancelWithStream(request, requests, session.transport)
      return session.transport.handleRequest(request, given(body))
    }
    const [oldest] = sessions.keys()
    if (sessions.size >= maximumSessions && oldest !== undefined) await sessions.get(oldest)?.transport.close()
    const open = new Set<RequestId>()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, open }),
      onsessionclosed: (id) => void sessions.delete(id)
    })
    await factory().connect(transport)
    cancelLatecomers(transport)
    trackRequests(transport, open)
    const { onclose } = transport
    Object.assign(transport, {
      onclose: () => {
        onclose?.()
        if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
      }
    })
    return transport.handleRequest(request, given(body))
  }

  return {
    fetch: async (request, body) => {
      if (Array.isArray(body) && body.length > mostBatched) return batchTooLarge()
      if (!(await isLegacyRequest(request, body))) return modern.fetch(request, given(body))
      return legacy(request, body ?? (await bodyOf(request)))
    },
    close: async () => {
      await Promise.all([modern.close(), ...[...sessions.values()].map(({ transport }) => transport.close())])
    }
  }
}

/** A session of the older protocols, and the ids of its requests that are not answered yet. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly open: ReadonlySet<RequestId>
}

const bodyOf = (request: Request): Promise<unknown> =>
  request.method === "POST" ? request.clone().json().catch(ignore) : Promise.resolve(undefined)

const ignore = (): void => {}

const given = (body: unknown) => (body === undefined ? {} : { parsedBody: body })

// Over HTTP a cancellation may arrive before the request that it cancels, and the SDK would ignore it. It is kept, and
// applied when the request arrives.
const cancelLatecomers = (transport: WebStandardStreamableHTTPServerTransport): void => {
  const { onmessage } = transport
  const overtaking = new Map<RequestId, JSONRPCNotification>()
  Object.assign(transport, {
    onmessage: ((message, extra) => {
      onmessage?.(message, extra)
      if (isJSONRPCRequest(message)) {
        const cancellation = overtaking.get(message.id)
        overtaking.delete(message.id)
        if (cancellation !== undefined) onmessage?.(cancellation, extra)
      }
      if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return
      // Also kept if the request came before: that does no harm, as request ids are not used twice.
      overtaking.set(message.params?.["requestId"] as RequestId, message)
      const [oldest] = overtaking.keys()
      if (overtaking.size > mostOvertaking && oldest !== undefined) overtaking.delete(oldest)
    }) satisfies NonNullable<typeof onmessage>
  })
}

// The SDK finds the stream of an answer by the id of its request: a second request with an id that is in use would get
// the first one's answer. So the ids in use are known here, from the request to its answer or its cancellation.
const trackRequests = (transport: WebStandardStreamableHTTPServerTransport, open: Set<RequestId>): void => {
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  Object.assign(transport, {
    onmessage: ((message, extra) => {
      if (isJSONRPCRequest(message)) open.add(message.id)
      if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
        open.delete(message.params?.["requestId"] as RequestId)
      }
      onmessage?.(message, extra)
    }) satisfies NonNullable<typeof onmessage>,
    send: ((message, options) => {
      if (!("method" in message) && message.id !== undefined) open.delete(message.id)
      return send(message, options)
    }) satisfies typeof send
  })
}

// The older protocols don't say what it means when a client closes a stream. Here it cancels the calls that would have
// been answered on it: nobody can get the answers any more, and what they run must not go on unnoticed.
const cancelWithStream = (
  request: Request,
  requests: ReadonlyArray<JSONRPCRequest>,
  transport: WebStandardStreamableHTTPServerTransport
): void => {
  if (requests.length === 0) return
  const cancel = (): void => {
    for (const { id: requestId } of requests) {
      const params = { requestId, reason: "the client closed the stream" }
      transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params })
    }
  }
  request.signal.addEventListener("abort", cancel, { once: true })
}

const idInUse = (id: RequestId): Response => invalidRequest(`a request with the id ${id} is not answered yet`)

const batchTooLarge = (): Response => invalidRequest(`a batch has at most ${mostBatched} messages`)

const invalidRequest = (why: string): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message: `Invalid Request: ${why}` } },
    { status: 400 }
  )

const noSession = (): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "There is no such session; initialize again." } },
    { status: 404 }
  )
