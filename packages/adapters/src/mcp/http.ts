import { randomUUID } from "node:crypto"

import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"

import type { McpServerFactory } from "./server.ts"

export interface McpFetchHandler {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends every session. */
  readonly close: () => Promise<void>
}

const maximumSessions = 1_000

/**
 * MCP over HTTP as a fetch handler: the 2026-07-28 protocol request by request, the older ones in sessions, because
 * only a session can carry a question back to the client. Who may call it is the server's business.
 */
export const mcpFetchHandler = (factory: McpServerFactory): McpFetchHandler => {
  const modern = createMcpHandler(factory, { legacy: "reject" })
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

  const legacy = async (request: Request): Promise<Response> => {
    const id = request.headers.get("mcp-session-id")
    if (id !== null) return (await sessions.get(id)?.handleRequest(request)) ?? noSession()
    const [oldest] = sessions.keys()
    if (sessions.size >= maximumSessions && oldest !== undefined) await sessions.get(oldest)?.close()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id)
    })
    await factory().connect(transport)
    const { onclose } = transport
    Object.assign(transport, {
      onclose: () => {
        onclose?.()
        if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
      }
    })
    return transport.handleRequest(request)
  }

  return {
    fetch: async (request) => ((await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request)),
    close: async () => {
      await Promise.all([modern.close(), ...[...sessions.values()].map((transport) => transport.close())])
    }
  }
}

const noSession = (): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "There is no such session; initialize again." } },
    { status: 404 }
  )
