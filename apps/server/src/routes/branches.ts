import { isToolError } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { partyOf } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

const Branch = z.object({
  name: z.string(),
  createdAt: z.iso.datetime(),
  isInUse: z.boolean().describe("Whether a host or a program works on it.")
})

const BranchDiff = z.object({
  branch: z.string(),
  changes: z.array(z.object({ path: z.string(), kind: z.string() })),
  diff: z.string(),
  conflicts: z.array(z.string()).describe("Paths that were changed in the workspace, too."),
  leftOut: z.array(z.object({ path: z.string(), reason: z.string() })).describe("What can't be merged.")
})

const Envelope = { description: "haft's own envelope", schema: z.looseObject({}) }

const base = "/v1/workspaces/{workspace}/branches"

/** Branches: several attempts side by side on one workspace. */
export const branchRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: base,
    summary: "The branches of a workspace",
    access: "agent",
    replies: { 200: { description: "Sorted by name", schema: z.object({ branches: z.array(Branch) }) } },
    handle: async ({ path }) =>
      json({ branches: await explained(() => workspaces.named(path["workspace"]).branches.list()) })
  }),
  defineRoute({
    method: "POST",
    path: base,
    summary: "Creates a branch",
    access: "agent",
    isWork: true,
    body: z.strictObject({ name: z.string() }),
    replies: { 200: { description: "The branch", schema: Branch } },
    handle: async ({ path, body }) =>
      json(await explained(() => workspaces.named(path["workspace"]).branches.create(body.name)))
  }),
  defineRoute({
    method: "GET",
    path: `${base}/{branch}/diff`,
    summary: "What a branch changed, against the workspace as it is now",
    access: "agent",
    isWork: true,
    replies: { 200: { description: "Changes, diff and conflicts", schema: BranchDiff } },
    handle: async ({ path }) =>
      json(await explained(() => workspaces.named(path["workspace"]).branches.diff(path["branch"] ?? "")))
  }),
  defineRoute({
    method: "POST",
    path: `${base}/{branch}/calls`,
    summary: "Calls a tool on a branch. A failure of the tool is a reply like any other",
    access: "agent",
    isWork: true,
    body: z.strictObject({
      tool: z.string().min(1),
      params: z.unknown().default({}),
      request_id: z.string().min(1).max(200).optional()
    }),
    replies: { 200: { description: "The envelope of the workspace's dialect", schema: z.looseObject({}) } },
    handle: async ({ path, body, request, identity }) => {
      const { branches } = workspaces.named(path["workspace"])
      const reply = await explained(() =>
        branches.call(path["branch"] ?? "", body.tool, body.params, {
          signal: request.signal,
          ...(body.request_id !== undefined && { requestId: body.request_id }),
          ...callerOf(identity)
        })
      )
      return json(reply.wire)
    }
  }),
  defineRoute({
    method: "POST",
    path: `${base}/{branch}/merge`,
    summary: "Merges a branch into the workspace, all or nothing, and drops it; a call of the tool merge_branch",
    access: "agent",
    isWork: true,
    body: z.strictObject({
      conflicts: z
        .enum(["refuse", "branch", "workspace"])
        .default("refuse")
        .describe("Which side counts for a path that changed on both; refuse merges nothing.")
    }),
    replies: { 200: Envelope },
    handle: async ({ path, body, identity }) => {
      const { branches } = workspaces.named(path["workspace"])
      const options = { conflicts: body.conflicts, ...callerOf(identity) }
      return json((await explained(() => branches.merge(path["branch"] ?? "", options))).wire)
    }
  }),
  defineRoute({
    method: "DELETE",
    path: `${base}/{branch}`,
    summary: "Drops a branch with everything that was changed on it",
    access: "agent",
    replies: { 200: { description: "Done", schema: z.object({ dropped: z.literal(true) }) } },
    handle: async ({ path }) => {
      await explained(() => workspaces.named(path["workspace"]).branches.drop(path["branch"] ?? ""))
      return json({ dropped: true })
    }
  })
]

/** The caller. A person with the approver's token has approved the call by making it. */
const callerOf = (identity: Parameters<typeof partyOf>[0]) => {
  const caller = partyOf(identity)
  if (caller === undefined) return {}
  const approved = async () => ({ approved: true, reason: `called by the ${caller.role}`, by: caller })
  return { caller, ...(caller.role !== "agent" && { ask: approved }) }
}

const statusOf: Readonly<Record<string, number>> = {
  invalid_params: 400,
  file_not_found: 404,
  already_exists: 409,
  branch_in_use: 409,
  session_limit: 429,
  sandbox_unavailable: 501
}

/** A branch that can't be used is the client's problem, or the machine's, and not a bug. */
const explained = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (error) {
    const status = isToolError(error) ? statusOf[error.code] : undefined
    if (status === undefined || !isToolError(error)) throw error
    const code = error.code === "file_not_found" ? "unknown_branch" : error.code
    throw new Problem(status, code, error.message)
  }
}
