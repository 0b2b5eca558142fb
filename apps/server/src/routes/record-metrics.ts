import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import type { Workspaces } from "../workspaces.ts"

const RecordMetrics = z.object({
  runs: z.number(),
  calls: z.number().describe("That ended."),
  failed: z.number(),
  p50: z.number().optional(),
  p95: z.number().optional(),
  buckets: z.array(z.object({ from: z.number(), succeeded: z.number(), failed: z.number() })),
  tools: z.array(
    z.object({
      tool: z.string(),
      calls: z.number(),
      failed: z.number(),
      p50: z.number(),
      p95: z.number(),
      p99: z.number()
    })
  ),
  decisions: z.array(z.object({ decision: z.string(), by: z.string(), count: z.number() }))
})

/** Figures of what is on record. */
export const recordMetricsRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: "/v1/workspaces/{workspace}/metrics",
    summary: "Figures of a run, or of the whole record: calls over time, latency by tool, decisions",
    access: "approver",
    isWork: true,
    query: z.strictObject({ run: z.string().max(200).optional().describe("The whole record when absent.") }),
    replies: { 200: { description: "Durations in milliseconds", schema: RecordMetrics } },
    handle: async ({ path, query: { run } }) => {
      const { metrics, record } = workspaces.named(path["workspace"])
      if (run === undefined) return json(await metrics())
      if (record(run) === undefined) throw new Problem(404, "unknown_run", "There is no such run on record.")
      return json(await metrics([run]))
    }
  })
]
