import type { JoinedCluster } from "haft/cluster"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { identified } from "../identity.ts"

const Status = z.object({
  members: z.array(
    z.object({
      id: z.string(),
      address: z.string(),
      url: z.string(),
      version: z.string(),
      state: z.enum(["active", "draining", "unreachable", "left"]),
      workspaces: z.number().describe("Workspaces that it owns."),
      lag: z.number().describe("Bytes of audit logs that are not in the database yet.")
    })
  ),
  workspaces: z.array(
    z.object({
      name: z.string(),
      epoch: z.string().describe("Grows with each change of the owner."),
      commits: z.string().describe("The sequence number of the last commit."),
      owner: z.string().optional().describe("The address of the member that has it open."),
      notCarried: z.array(z.string()).describe("Paths that stay with the owner, the first hundred.")
    })
  )
})

/** Members and workspaces of the cluster that this server belongs to. */
export const clusterRoutes = (member: () => JoinedCluster): ReadonlyArray<HttpRoute> => {
  const unavailable = (error: unknown): never => {
    throw new Problem(503, "cluster_unavailable", error instanceof Error ? error.message : String(error))
  }
  return [
    defineRoute({
      method: "GET",
      path: "/v1/cluster",
      summary: "Members of the cluster, workspaces and their owners",
      access: "approver",
      replies: { 200: { description: "As the database has it", schema: Status } },
      handle: async (asked) => {
        const { workspaces: own } = identified(asked)
        const { members, workspaces } = await member().status().catch(unavailable)
        return json({ members, workspaces: workspaces.filter(({ name }) => own?.includes(name) ?? true) })
      }
    }),
    defineRoute({
      method: "POST",
      path: "/v1/cluster/moves",
      summary: "Asks the owner of one of your workspaces to hand it over to another member",
      access: "approver",
      body: z.strictObject({
        workspace: z.string().min(1),
        to: z.string().min(1).describe("The address of a member.")
      }),
      replies: { 202: { description: "The owner was asked", contentTypes: [] } },
      handle: async ({ body, ...asked }) => {
        const isOwn = identified(asked).workspaces?.includes(body.workspace) ?? true
        const isAsked = isOwn && (await member().move(body.workspace, body.to).catch(unavailable))
        if (isAsked) return { status: 202, body: null }
        throw new Problem(404, "unknown_member", "There is no such workspace, or no active member at this address.")
      }
    }),
    defineRoute({
      method: "POST",
      path: "/v1/cluster/drains",
      summary: "Asks a member to hand over all its workspaces, and to take no new ones",
      access: "admin",
      body: z.strictObject({ address: z.string().min(1) }),
      replies: { 202: { description: "The member was asked", contentTypes: [] } },
      handle: async ({ body }) => {
        const isAsked = await member().drain(body.address).catch(unavailable)
        if (isAsked) return { status: 202, body: null }
        throw new Problem(404, "unknown_member", "No active member has this address.")
      }
    })
  ]
}
