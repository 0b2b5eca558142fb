import type { OpenWorkspace } from "haft"
import * as z from "zod"

import { json } from "../answer.ts"
import { type EventFeed, eventStream, eventText } from "../event-stream.ts"
import { Problem } from "../problem.ts"
import { defineRoute, type Route } from "../route.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}"

/** Which other fields there are depends on the type; the documentation of the record has them. */
const Event = z.looseObject({ type: z.string(), seq: z.number(), at: z.string() })

/** How many events of the past a client gets that does not say where it left off. */
const backlog = 1_000

/** Events that are read from the record at a time. */
const batch = 1_000

/** News that a client has not taken; one that falls further behind is let go, and comes back to a fresh start. */
const mostUnread = 1_000

/** What happened and what it left behind. */
export const recordRoutes = (workspaces: Workspaces): ReadonlyArray<Route> => {
  const recordOf = (path: Readonly<Record<string, string>>) => {
    const pages = workspaces.named(path["workspace"]).record(path["run"] ?? "")
    if (pages === undefined) throw new Problem(404, "unknown_run", "There is no such run on record.")
    return pages
  }
  return [
    defineRoute({
      method: "GET",
      path: `${base}/events`,
      summary:
        "Events as they happen (server-sent events); Last-Event-ID takes up where a client left off. " +
        "Events named approvals and terminals tell that one of those has opened, changed or closed",
      access: "approver",
      headers: { "Last-Event-ID": "The id of the last event that the client has; the stream goes on after it." },
      replies: { 200: { description: "A stream", contentTypes: ["text/event-stream"] } },
      handle: ({ path, request }) =>
        eventStream(eventsOf(workspaces.named(path["workspace"]), request.headers.get("last-event-id") ?? undefined))
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs`,
      summary: "The runs on record, oldest first",
      access: "approver",
      replies: {
        200: {
          description: "Names and sizes",
          schema: z.object({ runs: z.array(z.object({ name: z.string(), bytes: z.number() })) })
        }
      },
      handle: ({ path }) => {
        const runs = workspaces.named(path["workspace"]).runs()
        return json({ runs: runs.map(({ name, bytes }) => ({ name, bytes })) })
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/events`,
      summary: "A page of a run's record; one of large events may end early",
      access: "approver",
      query: z.strictObject({
        after: z.coerce.number().int().min(0).default(0),
        limit: z.coerce.number().int().min(1).max(10_000).default(1_000)
      }),
      replies: {
        200: {
          description: "Events by number",
          schema: z.object({ events: z.array(Event), total: z.number() })
        }
      },
      handle: async ({ path, query }) => {
        const pages = recordOf(path)
        const lines = await pages.read(query.after, query.limit)
        // The lines are JSON as they stand.
        const body = `{"events":[${lines.join(",")}],"total":${await pages.total()}}`
        return { headers: { "content-type": "application/json" }, body }
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/artifacts/{artifact…}`,
      summary: "A file that a call left behind, whole or a range of it, always as plain text",
      access: "approver",
      headers: { Range: "One range of bytes: `bytes=0-99`, `bytes=100-` or `bytes=-50`." },
      replies: {
        200: { description: "The file", contentTypes: ["text/plain"] },
        206: { description: "A range of it", contentTypes: ["text/plain"] }
      },
      handle: ({ path, request }) => {
        const artifact = workspaces.named(path["workspace"]).artifact(path["run"] ?? "", path["artifact"] ?? "")
        if (artifact === undefined) throw new Problem(404, "unknown_artifact", "There is no such artifact.")
        const { size } = artifact
        const headers = { "content-type": "text/plain; charset=utf-8", "accept-ranges": "bytes" }
        const asked = askedRange(request)
        const range = asked === undefined ? { start: 0, end: size - 1 } : rangeOf(asked, size)
        // Of nothing there is no part.
        if (range === undefined && size > 0) {
          artifact.close()
          throw new Problem(416, "invalid_range", `The file has ${size} bytes.`, { "content-range": `bytes */${size}` })
        }
        if (range === undefined || size === 0) {
          artifact.close()
          return { headers, body: "" }
        }
        const length = range.end - range.start + 1
        return {
          status: asked === undefined ? 200 : 206,
          headers: {
            ...headers,
            "content-length": String(length),
            ...(asked !== undefined && { "content-range": `bytes ${range.start}-${range.end}/${size}` })
          },
          body: artifact.stream(range)
        }
      }
    })
  ]
}

/** The record from where a client left off, and news in between that are not on it. */
const eventsOf = (workspace: OpenWorkspace, lastEventId: string | undefined): EventFeed => {
  const { run, approvals, terminals } = workspace
  const pages = workspace.record(run)
  const [lastRun, lastNumber] = lastEventId?.split(":") ?? []
  const news: Array<string> = []
  let after = lastRun === run && /^\d{1,15}$/.test(lastNumber ?? "") ? Number(lastNumber) : Number.NaN
  return {
    next: async () => {
      if (pages === undefined || news.length > mostUnread) return undefined
      const total = await pages.total()
      if (!(after <= total)) after = Math.max(0, total - backlog)
      const first = after + 1
      const lines = await pages.read(after, batch)
      after += lines.length
      return [
        ...lines.map((line, index) => eventText(line, { id: `${run}:${first + index}` })),
        ...news.splice(0)
      ].join("")
    },
    subscribe: (wake) => {
      const tell = (name: string, data: unknown): void => {
        news.push(eventText(JSON.stringify(data), { name }))
        wake()
      }
      const subscriptions = [
        workspace.subscribe(wake),
        approvals.subscribe((change) => tell("approvals", change)),
        terminals.subscribe(() => tell("terminals", {}))
      ]
      return () => {
        for (const unsubscribe of subscriptions) unsubscribe()
      }
    }
  }
}

/**
 * The one range of bytes that is asked for, as `bytes=0-99`, `bytes=100-` or `bytes=-50`. What is anything else, or holds
 * for a version of the file that nobody here has named, is passed over as HTTP wants it, and the answer is the file.
 */
const askedRange = (request: Request): readonly [from: string, to: string] | undefined => {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i.exec((request.headers.get("range") ?? "").trim())
  if (match === null || request.method !== "GET" || request.headers.has("if-range")) return undefined
  const [, from = "", to = "", last = ""] = match
  if (from !== "" && to !== "" && Number(from) > Number(to)) return undefined
  return [from, from === "" ? last : to]
}

/** Its first and last byte; undefined when the file has none of it. */
const rangeOf = (
  [from, to]: readonly [from: string, to: string],
  size: number
): { readonly start: number; readonly end: number } | undefined => {
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1)
  return start <= end && start < size ? { start, end } : undefined
}
