import { ConfigError } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { partyOf } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}/runs"

const Replay = z.object({
  run: z.string(),
  calls: z.array(
    z.object({
      step: z.number(),
      tool: z.string(),
      outcome: z.enum(["same", "different", "skipped"]),
      differences: z.array(z.string()).describe("Fields of the reply that are different."),
      whySkipped: z.string().optional()
    })
  ),
  files: z.array(z.object({ path: z.string(), kind: z.enum(["missing", "unexpected", "different"]) })),
  whyNotBefore: z.string().optional().describe("Why the calls began with the workspace as it is now.")
})

/** Replay and retention of the runs on record. */
export const runRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "POST",
    path: `${base}/{run}/replay`,
    summary: "Makes the calls of a run again on a copy of the workspace, and compares replies and files",
    access: "approver",
    isWork: true,
    body: z.strictObject({}),
    replies: { 200: { description: "What was different", schema: Replay } },
    handle: async ({ path }) => {
      const { record, replay } = workspaces.named(path["workspace"])
      const run = path["run"] ?? ""
      if (record(run) === undefined) throw new Problem(404, "unknown_run", "There is no such run on record.")
      const { calls, files, whyNotBefore } = await replay(run).catch((error: unknown) => {
        throw error instanceof ConfigError ? new Problem(409, "cannot_replay", error.message) : error
      })
      return json({
        run,
        calls: calls.map(({ call, outcome, differences, whySkipped }) => ({
          step: call.step,
          tool: call.tool,
          outcome,
          differences: differences.map(({ where }) => where),
          whySkipped
        })),
        files,
        ...(whyNotBefore !== undefined && { whyNotBefore })
      })
    }
  }),
  defineRoute({
    method: "DELETE",
    path: base,
    summary: "Removes the records and artifacts of runs that began before a time; the newest run and running ones stay",
    access: "admin",
    query: z.strictObject({
      before: z.iso.datetime({ offset: true }),
      dry: z.enum(["true", "false"]).default("false").describe("`true` only says what would be removed.")
    }),
    replies: {
      200: { description: "Runs by name", schema: z.object({ runs: z.array(z.string()), bytes: z.number() }) }
    },
    handle: async ({ path, query, identity }) => {
      const by = partyOf(identity)
      const options = { isDry: query.dry === "true", ...(by !== undefined && { by }) }
      return json(await workspaces.named(path["workspace"]).prune(new Date(query.before), options))
    }
  })
]
