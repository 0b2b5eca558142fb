import { listedRequest, modeNames, type OpenWorkspace } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { gatherJson } from "../http/gather.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import type { CallerIdentity } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"
import { ListedRequest } from "./approvals.ts"

const Overview = z.object({
  name: z.string(),
  run: z.string(),
  dialect: z.string(),
  mode: z.enum(modeNames),
  pending: z.number(),
  oldestPendingAt: z.number().optional(),
  running: z.number(),
  terminals: z.number().describe("That are running."),
  agents: z.number(),
  paused: z.number().describe("Agents that are paused."),
  lastCallAt: z.number().optional(),
  codeIndex: z
    .object({ files: z.number(), symbols: z.number(), bytes: z.number(), refreshedAt: z.number() })
    .optional()
    .describe("Absent until the first search."),
  health: z.enum(["ok", "degraded"]),
  problems: z.array(z.string())
})

/** All of somebody's workspaces at once. */
export const overviewRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => {
  const ownOf = (identity: CallerIdentity | undefined) =>
    [...workspaces.all()].filter(([name]) => identity?.workspaces?.includes(name) ?? true)
  return [
    defineRoute({
      method: "GET",
      path: "/v1/approvals",
      summary: "Requests of all your workspaces that wait for a person, oldest first",
      access: "approver",
      replies: {
        200: {
          description: "Open requests",
          schema: z.object({ approvals: z.array(ListedRequest.extend({ workspace: z.string(), run: z.string() })) })
        }
      },
      gather: gatherJson<{ approvals: ReadonlyArray<{ readonly askedAt: number }> }>((bodies) => ({
        approvals: bodies.flatMap(({ approvals }) => approvals).toSorted((one, other) => one.askedAt - other.askedAt)
      })),
      handle: ({ identity }) => {
        const approvals = ownOf(identity).flatMap(([workspace, { run, approvals: gate }]) =>
          gate.open().map((request) => Object.assign({ workspace, run }, listedRequest(request)))
        )
        return json({ approvals: approvals.toSorted((one, other) => one.askedAt - other.askedAt) })
      }
    }),
    defineRoute({
      method: "GET",
      path: "/v1/overview",
      summary: "The state of each of your workspaces: mode, pending requests, running calls, agents, health",
      access: "approver",
      replies: { 200: { description: "Workspaces", schema: z.object({ workspaces: z.array(Overview) }) } },
      gather: gatherJson<{ workspaces: ReadonlyArray<{ readonly name: string }> }>((bodies) => ({
        workspaces: bodies
          .flatMap(({ workspaces: open }) => open)
          .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      })),
      handle: async ({ identity }) =>
        json({
          workspaces: await Promise.all(ownOf(identity).map(([name, workspace]) => overviewOf(name, workspace)))
        })
    })
  ]
}

const overviewOf = async (name: string, workspace: OpenWorkspace): Promise<z.output<typeof Overview>> => {
  const { run, dialects, mode, approvals, calls, terminals } = workspace
  const open = approvals.open()
  const agents = workspace.agents.list()
  const problems = await problemsOf(workspace)
  const index = await workspace.codeIndex()
  const [oldest] = open
  const [latest] = agents
  return {
    name,
    run,
    dialect: dialects[0] ?? "",
    mode: mode(),
    pending: open.length,
    ...(oldest !== undefined && { oldestPendingAt: oldest.askedAt }),
    running: calls.list().length - open.length,
    terminals: terminals.list().filter(({ isRunning }) => isRunning).length,
    agents: agents.length,
    paused: agents.filter(({ paused }) => paused !== undefined).length,
    ...(latest !== undefined && latest.lastCallAt > 0 && { lastCallAt: latest.lastCallAt }),
    ...(index?.refreshedAt !== undefined && {
      codeIndex: { files: index.files, symbols: index.symbols, bytes: index.bytes, refreshedAt: index.refreshedAt }
    }),
    health: problems.length === 0 ? "ok" : "degraded",
    problems
  }
}

/** Plugins that were left out or report that they can't work. */
const problemsOf = async (workspace: OpenWorkspace): Promise<ReadonlyArray<string> & Array<string>> => {
  const host = await workspace.host()
  const reports = await host.health()
  return [
    ...host.skipped.map(({ message }) => message),
    ...reports.flatMap(({ plugin, problem }) => (problem === undefined ? [] : [`${plugin}: ${problem}`]))
  ]
}
