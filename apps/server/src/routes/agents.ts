import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { partyOf } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}"

const Party = z.object({ name: z.string(), role: z.string() })

const RunningCall = z.object({
  step: z.number(),
  id: z.string(),
  tool: z.string(),
  caller: Party.optional(),
  startedAt: z.number()
})

const Agent = z.object({
  name: z.string(),
  lastCallAt: z.number(),
  paused: z.object({ at: z.number(), by: Party.optional() }).optional().describe("Absent while it may go on."),
  messages: z.number().describe("Messages that wait for its next call.")
})

/** Agents and the calls they have under way: to stop a call, pause an agent, or tell it something. */
export const agentRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: `${base}/calls`,
    summary: "Calls that are under way, oldest first",
    access: "approver",
    replies: { 200: { description: "Running calls", schema: z.object({ calls: z.array(RunningCall) }) } },
    handle: ({ path }) => json({ calls: workspaces.named(path["workspace"]).calls.list() })
  }),
  defineRoute({
    method: "POST",
    path: `${base}/calls/{step}/stop`,
    summary: "Stops a call of this run, by its number. Its caller is told who stopped it",
    access: "approver",
    body: z.strictObject({ reason: z.string().max(2_000).optional() }),
    replies: { 200: { description: "It is being stopped", schema: z.object({ stopped: z.literal(true) }) } },
    handle: ({ path, body, identity }) => {
      const { calls } = workspaces.named(path["workspace"])
      if (calls.stop(Number(path["step"]), partyOf(identity), body.reason)) return json({ stopped: true })
      throw new Problem(404, "call_ended", "This call is not under way: it has ended, or never began in this run.")
    }
  }),
  defineRoute({
    method: "GET",
    path: `${base}/agents`,
    summary: "Agents that have called since the server started, the latest first",
    access: "approver",
    replies: { 200: { description: "Agents", schema: z.object({ agents: z.array(Agent) }) } },
    handle: ({ path }) => json({ agents: workspaces.named(path["workspace"]).agents.list() })
  }),
  defineRoute({
    method: "POST",
    path: `${base}/agents/{agent}`,
    summary: "Pauses or resumes an agent, or sends it a message with the reply to its next call",
    access: "approver",
    body: z.strictObject({
      paused: z.boolean().optional().describe("While it is true, calls of the agent wait."),
      message: z.string().min(1).max(10_000).optional()
    }),
    replies: { 200: { description: "The agents as they are now", schema: z.object({ agents: z.array(Agent) }) } },
    handle: async ({ path, body, identity }) => {
      const { agents } = workspaces.named(path["workspace"])
      const [name, by] = [path["agent"] ?? "", partyOf(identity)]
      if (body.message !== undefined) await agents.tell(name, body.message, by)
      if (body.paused !== undefined) await (body.paused ? agents.pause(name, by) : agents.resume(name, by))
      return json({ agents: agents.list() })
    }
  })
]
