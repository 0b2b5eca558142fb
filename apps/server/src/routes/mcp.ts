import { defineRoute, type Route, type RouteRequest } from "../route.ts"
import type { Workspaces } from "../workspaces.ts"

const methods = ["POST", "GET", "DELETE"] as const

/** MCP over HTTP: a mount for each dialect, and a short address for the workspace called default. */
export const mcpRoutes = (workspaces: Workspaces): ReadonlyArray<Route> => {
  const mount = (
    path: string,
    summary: string,
    handle: (request: RouteRequest<unknown, unknown>) => Promise<Response>
  ) =>
    methods.map((method) =>
      defineRoute({
        method,
        path,
        summary,
        access: "agent",
        isWork: method === "POST",
        replies: { 200: { description: "As the protocol says; JSON or a stream" } },
        handle
      })
    )
  return [
    ...mount("/v1/workspaces/{workspace}/mcp/{dialect}", "MCP in a dialect", async ({ path, request }) => {
      const { fetch } = await workspaces.mcp(path["workspace"] ?? "", path["dialect"])
      return fetch(request)
    }),
    ...mount("/mcp", "MCP on the workspace called default, in its own dialect", async ({ request }) => {
      const { fetch } = await workspaces.mcp("default")
      return fetch(request)
    })
  ]
}
