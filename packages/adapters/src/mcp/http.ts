import { randomUUID } from "node:crypto"

import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCNotification,
  type RequestId,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"

import type { McpServerFactory } from "./server.ts"

export interface McpFetchHandler {
  /** Answers a request. A server that has read the body already, within its own limits, hands it over. */
  readonly fetch: (request: Request, body?: unknown) => Promise<Response>
  /** Ends every session. */
  readonly close: () => Promise<void>
}

const maximumSessions = 1_000
const mostOvertaking = 100

/**
 * MCP over HTTP as a fetch handler: the 2026-07-28 protocol request by request, the older ones in sessions, because
 * only a session can carry a question back to the client. Who may call it is the server's business.
 */
export const mcpFetchHandler = (factory: McpServerFactory): McpFetchHandler => {
  const modern = createMcpHandler(factory, { legacy: "reject" })
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

  const legacy = async (request: Request, body: unknown): Promise<Response> => {
    const id = request.headers.get("mcp-session-id")
    if (id !== null) {
      const session = sessions.get(id)
      if (session === undefined) return noSession()
      // Where there are too many, the one that was not used for longest goes.
      sessions.delete(id)
      sessions.set(id, session)
      cancelWithStream(request, body, session)
      return session.handleRequest(request, given(body))
    }
    const [oldest] = sessions.keys()
    if (sessions.size >= maximumSessions && oldest !== undefined) await sessions.get(oldest)?.close()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id)
    })
    await factory().connect(transport)
    cancelLatecomers(transport)
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
    fetch: async (request, body) =>
      (await isLegacyRequest(request, body)) ? legacy(request, body) : modern.fetch(request, given(body)),
    close: async () => {
      await Promise.all([modern.close(), ...[...sessions.values()].map((transport) => transport.close())])
    }
  }
}

const given = (body: unknown) => (body === undefined ? {} : { parsedBody: body })

// Each message comes by a connection of its own, so a cancellation may overtake the request that it is about: the request
// would run, and nobody would ask for its answer.
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
      // Of a request that came before it stays here: its number does not come again.
      overtaking.set(message.params?.["requestId"] as RequestId, message)
      const [oldest] = overtaking.keys()
      if (overtaking.size > mostOvertaking && oldest !== undefined) overtaking.delete(oldest)
    }) satisfies NonNullable<typeof onmessage>
  })
}

// The older protocols leave it open what a closed stream means. Here it ends the calls that would have been answered
// on it: nobody can fetch the answers any more, and what they run must not go on without anybody.
const cancelWithStream = (
  request: Request,
  body: unknown,
  transport: WebStandardStreamableHTTPServerTransport
): void => {
  const requests = [body].flat().filter(isJSONRPCRequest)
  if (requests.length === 0) return
  const cancel = (): void => {
    for (const { id: requestId } of requests) {
      const params = { requestId, reason: "the client closed the stream" }
      transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params })
    }
  }
  request.signal.addEventListener("abort", cancel, { once: true })
}

const noSession = (): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "There is no such session; initialize again." } },
    { status: 404 }
  )
