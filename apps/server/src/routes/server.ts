import { type Telemetry, tokenRoles } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import type { FlowControl } from "../http/flow-control.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, methodNotAllowed, type HttpRoute } from "../http/route.ts"
import { type Gatekeeper, identified } from "../identity.ts"

export interface ServerRoutesOptions {
  readonly version: string
  readonly flow: FlowControl
  readonly telemetry: Telemetry
  readonly gatekeeper: Gatekeeper
  readonly isClustered: boolean
  /** The address of this server, known once it listens. */
  readonly url: () => string
  readonly openapi: () => object
}

/** The server itself: its health and metrics, its OpenAPI document, and logging in to the console. */
export const serverRoutes = (options: ServerRoutesOptions): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: "/healthz",
    summary: "Whether the server takes calls",
    access: "public",
    replies: {
      200: { description: "It does", schema: z.object({ status: z.literal("ok"), version: z.string() }) },
      503: { description: "It is stopping", schema: z.object({ status: z.literal("stopping"), version: z.string() }) }
    },
    handle: () => {
      const isStopped = options.flow.isStopped()
      const body = { status: isStopped ? "stopping" : "ok", version: options.version }
      return json(body, { status: isStopped ? 503 : 200 })
    }
  }),
  defineRoute({
    method: "GET",
    path: "/metrics",
    summary: "Figures for Prometheus: of the server, and of the workspaces that your token is for",
    access: "agent",
    replies: { 200: { description: "Prometheus' text format", contentTypes: ["text/plain"] } },
    handle: async (asked) => ({
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      body: await options.telemetry.prometheus(identified(asked).workspaces)
    })
  }),
  defineRoute({
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    access: "public",
    replies: { 200: { description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) } },
    handle: () => json(options.openapi())
  }),
  defineRoute({
    method: "GET",
    path: "/login",
    summary: "Trades the code of a one-time link for a cookie, and leads to the console",
    access: "public",
    query: z.strictObject({ code: z.string().min(1).max(200) }),
    replies: { 303: { description: "To the console", contentTypes: [] } },
    handle: async ({ query, request }) => {
      // HEAD is used by programs that check links, and must not use up the code.
      if (request.method !== "GET") throw methodNotAllowed("GET")
      const session = await redeemed(() => options.gatekeeper.redeemLink(query.code, request), request)
      return {
        status: 303,
        // Behind the #, which browsers send to no server.
        headers: {
          location: session === undefined ? "/" : `/#key=${session.key}`,
          ...(session !== undefined && { "set-cookie": session.cookie })
        },
        body: null
      }
    }
  }),
  defineRoute({
    method: "POST",
    path: "/v1/links",
    summary: "Makes another one-time link to the console",
    access: "approver",
    body: z.strictObject({}),
    replies: { 200: { description: "It works once, within ten minutes", schema: z.object({ link: z.url() }) } },
    handle: ({ identity }) => json({ link: `${options.url()}/login?code=${options.gatekeeper.makeLink(identity)}` })
  }),
  defineRoute({
    method: "DELETE",
    path: "/v1/session",
    summary: "Signs this browser out",
    access: "agent",
    replies: { 200: { description: "Done", schema: z.object({ signedOut: z.boolean() }) } },
    handle: async ({ request }) => {
      const cookie = await options.gatekeeper.endSession(request)
      const headers = cookie === undefined ? {} : { "set-cookie": cookie }
      return json({ signedOut: cookie !== undefined }, { headers })
    }
  }),
  defineRoute({
    method: "GET",
    path: "/v1/me",
    summary: "Who the server takes you for",
    access: "agent",
    replies: {
      200: {
        description: "Your name, your role, and your workspaces unless you have all",
        schema: z.object({
          name: z.string(),
          role: z.enum(tokenRoles),
          workspaces: z.array(z.string()).optional(),
          cluster: z.literal(true).optional().describe("For a server that is a member of a cluster, see /v1/cluster.")
        })
      }
    },
    handle: (asked) => {
      const { name, role, workspaces } = identified(asked)
      return json({
        name,
        role,
        ...(workspaces !== undefined && { workspaces }),
        ...(options.isClustered && { cluster: true })
      })
    }
  })
]

// A person whose link does not work any more gets to the console all the same: the browser may have a session already,
// and if not, the console says what to do.
const redeemed = async <Session>(redeem: () => Promise<Session>, request: Request): Promise<Session | undefined> => {
  try {
    return await redeem()
  } catch (error) {
    const isPage = (request.headers.get("accept") ?? "").includes("text/html")
    if (isPage && error instanceof Problem) return undefined
    throw error
  }
}
