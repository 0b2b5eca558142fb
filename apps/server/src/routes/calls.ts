import { exportFormats, exportTools } from "haft"
import * as z from "zod"

import { json } from "../answer.ts"
import { defineRoute, type Route } from "../route.ts"
import { dialectNamed, type Workspaces } from "../workspaces.ts"

const answered = { 200: { description: "JSON", schema: z.looseObject({}) } }

/** Workspaces, their tools, and calls. */
export const callRoutes = (workspaces: Workspaces): ReadonlyArray<Route> => [
  defineRoute({
    method: "GET",
    path: "/v1/workspaces",
    summary: "The workspaces of this server",
    access: "agent",
    replies: {
      200: {
        description: "Names, with the run that records them and the dialect they speak",
        schema: z.object({
          workspaces: z.array(z.object({ name: z.string(), run: z.string(), dialect: z.string() }))
        })
      }
    },
    handle: async () => {
      const known = await Promise.all(
        [...workspaces.all()].map(async ([name, workspace]) => {
          const { dialect } = await workspace.host()
          return { name, run: workspace.run, dialect: dialect.name }
        })
      )
      return json({ workspaces: known })
    }
  }),
  defineRoute({
    method: "GET",
    path: "/v1/workspaces/{workspace}/tools",
    summary: "The tools of a workspace, in a dialect and in the format of an API",
    access: "agent",
    query: z.strictObject({
      dialect: z.string().optional(),
      format: z.enum(exportFormats).default("json")
    }),
    replies: { 200: { description: "As `haft tools --format` prints it", schema: z.json() } },
    handle: async ({ path, query }) => {
      const host = await workspaces.named(path["workspace"] ?? "").host(chosen(query.dialect))
      return json(exportTools(host.tools, query.format))
    }
  }),
  defineRoute({
    method: "POST",
    path: "/v1/workspaces/{workspace}/calls",
    summary: "Calls a tool. A failure of the tool is a reply like any other",
    access: "agent",
    isWork: true,
    body: z.strictObject({
      tool: z.string().min(1),
      params: z.unknown().default({}),
      request_id: z.string().min(1).max(200).optional(),
      dialect: z.string().optional()
    }),
    replies: { 200: { description: "The dialect's envelope", schema: z.looseObject({}) } },
    handle: async ({ path, body, request, identity }) => {
      const host = await workspaces.named(path["workspace"] ?? "").host(chosen(body.dialect))
      const traceParent = request.headers.get("traceparent")
      const reply = await host.call(body.tool, body.params, {
        signal: request.signal,
        ...(traceParent !== null && { traceParent }),
        ...(body.request_id !== undefined && { requestId: body.request_id }),
        // Whoever holds the approver's token has consented by calling.
        ...(identity?.role === "approver" && {
          ask: async () => ({ approved: true, reason: "called by the approver" })
        })
      })
      return json(reply.wire)
    }
  }),
  defineRoute({
    method: "POST",
    path: "/v1/workspaces/{workspace}/previews",
    summary: "What a call would touch and change, and whether it would ask; nothing is run",
    access: "agent",
    body: z.strictObject({ tool: z.string().min(1), params: z.unknown().default({}), dialect: z.string().optional() }),
    replies: answered,
    handle: async ({ path, body }) => {
      const host = await workspaces.named(path["workspace"] ?? "").host(chosen(body.dialect))
      const preview = await host.preview(body.tool, body.params).then(
        (value) => ({ ok: true, preview: value }),
        (error: unknown) => ({ ok: false, error: { message: error instanceof Error ? error.message : String(error) } })
      )
      return json(preview)
    }
  })
]

const chosen = (dialect: string | undefined) => (dialect === undefined ? undefined : dialectNamed(dialect))
