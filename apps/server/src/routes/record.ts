import { ConfigError, type HaftConfig, type JournalEvent, readRun, runsOf } from "haft"
import * as z from "zod"

import { json } from "../answer.ts"
import { eventStream, type NumberedEvent } from "../event-stream.ts"
import { Problem } from "../problem.ts"
import { defineRoute, type Route } from "../route.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}"

/** How many events of the past a client gets that does not say where it left off. */
const backlog = 1_000

/** What happened and what it left behind. */
export const recordRoutes = (
  workspaces: Workspaces,
  configs: Readonly<Record<string, HaftConfig>>
): ReadonlyArray<Route> => {
  const configOf = (name: string | undefined): HaftConfig => {
    workspaces.named(name ?? "")
    return configs[name ?? ""] ?? {}
  }
  return [
    defineRoute({
      method: "GET",
      path: `${base}/events`,
      summary:
        "Events as they happen (server-sent events); Last-Event-ID takes up where a client left off. " +
        "Events named approvals tell of questions that open and close",
      access: "approver",
      replies: { 200: { description: "A stream", contentType: "text/event-stream" } },
      handle: ({ path, request }) => {
        const workspace = workspaces.named(path["workspace"] ?? "")
        const numbered = (event: JournalEvent): NumberedEvent => ({
          id: `${workspace.run}:${String(event["seq"])}`,
          data: event
        })
        return eventStream(
          {
            since: async (id) => {
              const events = await readRun(configOf(path["workspace"]), { run: workspace.run })
              const [run, seq] = (id ?? "").split(":")
              if (run !== workspace.run) return events.slice(-backlog).map(numbered)
              return events.filter((event) => Number(event["seq"]) > Number(seq)).map(numbered)
            },
            subscribe: (listener) => workspace.subscribe((event) => listener(numbered(event))),
            subscribeToPassing: (listener) =>
              workspace.approvals.subscribe((change) => listener({ name: "approvals", data: change }))
          },
          request.headers.get("last-event-id") ?? undefined
        )
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs`,
      summary: "The runs on record, oldest first",
      access: "approver",
      replies: { 200: { description: "Names and sizes", schema: z.object({ runs: z.array(z.looseObject({})) }) } },
      handle: async ({ path }) => {
        const runs = await runsOf(configOf(path["workspace"]))
        return json({ runs: runs.map(({ name, bytes }) => ({ name, bytes })) })
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/events`,
      summary: "A page of a run's record",
      access: "approver",
      query: z.strictObject({
        after: z.coerce.number().int().min(0).default(0),
        limit: z.coerce.number().int().min(1).max(10_000).default(1_000)
      }),
      replies: {
        200: {
          description: "Events by number",
          schema: z.object({ events: z.array(z.looseObject({})), total: z.number() })
        }
      },
      handle: async ({ path, query }) => {
        const events = await readRun(configOf(path["workspace"]), { run: path["run"] ?? "" }).catch(
          (error: unknown) => {
            if (error instanceof ConfigError) throw new Problem(404, "unknown_run", error.message)
            throw error
          }
        )
        const page = events.filter((event) => Number(event["seq"]) > query.after).slice(0, query.limit)
        return json({ events: page, total: events.length })
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/artifacts/{artifact…}`,
      summary: "A file that a call left behind, whole or a range of it, always as plain text",
      access: "approver",
      replies: {
        200: { description: "The file", contentType: "text/plain" },
        206: { description: "A range of it", contentType: "text/plain" }
      },
      handle: ({ path, request }) => {
        const artifact = workspaces.named(path["workspace"] ?? "").artifact(path["run"] ?? "", path["artifact"] ?? "")
        if (artifact === undefined) throw new Problem(404, "unknown_artifact", "There is no such artifact.")
        const { size } = artifact
        const headers = { "content-type": "text/plain; charset=utf-8", "accept-ranges": "bytes" }
        const asked = request.headers.get("range")
        const range = asked === null ? { start: 0, end: size - 1 } : rangeOf(asked, size)
        if (range === undefined) {
          artifact.close()
          throw new Problem(416, "invalid_range", `The file has ${size} bytes.`, { "content-range": `bytes */${size}` })
        }
        if (size === 0) {
          artifact.close()
          return { headers, body: "" }
        }
        const length = range.end - range.start + 1
        return {
          status: asked === null ? 200 : 206,
          headers: {
            ...headers,
            "content-length": String(length),
            ...(asked !== null && { "content-range": `bytes ${range.start}-${range.end}/${size}` })
          },
          body: artifact.stream(range)
        }
      }
    })
  ]
}

/** One range of bytes, as `bytes=0-99`, `bytes=100-` or `bytes=-50`; undefined when it can't be served. */
const rangeOf = (header: string, size: number): { readonly start: number; readonly end: number } | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim())
  if (match === null) return undefined
  const [, from = "", to = ""] = match
  if (from === "" && to === "") return undefined
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1)
  return start <= end && start < size ? { start, end } : undefined
}
