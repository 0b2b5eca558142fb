import type { McpFetchHandler } from "haft/mcp"

import { answerOf } from "../http/answer.ts"
import { defineRoute, type HttpRoute, type RouteRequest } from "../http/route.ts"
import { type CallerIdentity, identified } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

const replies = {
  POST: {
    200: { description: "As the protocol says", contentTypes: ["application/json", "text/event-stream"] },
    202: { description: "A notification was taken", contentTypes: [] }
  },
  GET: { 200: { description: "What the server has to say besides answers", contentTypes: ["text/event-stream"] } },
  DELETE: { 200: { description: "The session has ended", contentTypes: [] } }
}
const methods = ["POST", "GET", "DELETE"] as const

/** MCP over HTTP: a mount for each dialect, and a short address for the workspace called default. */
export const mcpRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => {
  const mount = (
    path: string,
    summary: string,
    workspace: { readonly workspace?: string },
    mountOf: (asked: RouteRequest<unknown, unknown>, caller: CallerIdentity) => Promise<McpFetchHandler>
  ) =>
    methods.map((method) =>
      defineRoute({
        method,
        path,
        summary,
        ...workspace,
        access: "agent",
        replies: replies[method],
        handle: async (asked) => {
          const { fetch } = await mountOf(asked, identified(asked))
          if (method !== "POST") return answerOf(await fetch(asked.request))
          const body = await asked.readBody()
          // Only calls count: a client that has reached its limit must still be able to answer questions and to cancel.
          for (const message of [body].flat()) if (isCall(message)) asked.startWork()
          return answerOf(await fetch(asked.request, body))
        }
      })
    )
  return [
    ...mount("/v1/workspaces/{workspace}/mcp/{dialect}", "MCP in a dialect", {}, ({ path }, caller) =>
      workspaces.mcp(path["workspace"], caller, path["dialect"])
    ),
    ...mount(
      "/mcp",
      "MCP on the workspace called default, in its own dialect",
      { workspace: "default" },
      (_asked, caller) => workspaces.mcp("default", caller)
    )
  ]
}

const isCall = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "method" in message && message.method === "tools/call"
