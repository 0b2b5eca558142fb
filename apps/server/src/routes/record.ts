import { eventsOfCall, listedRequest, type OpenWorkspace, summaryPage } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { askedRange, rangeOf } from "../http/byte-range.ts"
import { type EventFeed, eventStream, eventText } from "../http/event-stream.ts"
import { gatherEvents } from "../http/gather.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}"

/** Further fields depend on the type; they are documented with the record. */
const Event = z.looseObject({ type: z.string(), seq: z.number(), at: z.string() })

const FoundCall = z.object({
  run: z.string(),
  step: z.number(),
  requestId: z.string(),
  tool: z.string(),
  agent: z.string().optional(),
  startedAt: z.number(),
  status: z.enum(["success", "error", "aborted"]),
  error: z.string().optional(),
  touches: z.looseObject({}).optional()
})

/** How many past events a client gets that sends no Last-Event-ID. */
const backlog = 1_000

/** How many events are read from the record at a time. */
const batch = 1_000

/** How much news may wait for a client. Beyond that its stream is ended; it reconnects, and loads everything again. */
const mostUnread = 1_000

/** The runs on record, their events and their artifacts. */
export const recordRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => {
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
      handle: ({ path, request }) => {
        const lastEventId = request.headers.get("last-event-id") ?? undefined
        return eventStream(eventsOf(workspaces.named(path["workspace"]), lastEventId))
      }
    }),
    defineRoute({
      method: "GET",
      path: "/v1/events",
      summary:
        "News of all your workspaces in one stream (server-sent events), to be loaded by whoever needs it: " +
        "`record`, `terminals` and `output` of a terminal, and `approvals` with the request that opened or how it closed; " +
        "each with a workspace and its run",
      access: "approver",
      replies: { 200: { description: "A stream", contentTypes: ["text/event-stream"] } },
      gather: gatherEvents,
      handle: ({ identity }) => {
        const isOwn = (name: string): boolean => identity?.workspaces?.includes(name) ?? true
        return eventStream(newsOf(workspaces, isOwn))
      }
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
        limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
        view: z
          .enum(["full", "summary"])
          .default("full")
          .describe("`summary` leaves out replies and diffs, and clips long texts.")
      }),
      replies: {
        200: {
          description: "Events by number",
          schema: z.object({ events: z.array(Event), total: z.number() })
        }
      },
      handle: async ({ path, query }) => {
        const pages = recordOf(path)
        if (query.view === "summary") {
          const { events } = await summaryPage(pages, query.after, query.limit)
          const body = `{"events":[${events.join(",")}],"total":${await pages.total()}}`
          return { headers: { "content-type": "application/json" }, body }
        }
        const lines = await pages.read(query.after, query.limit)
        // Each line of the record is JSON already, so nothing is parsed.
        const body = `{"events":[${lines.join(",")}],"total":${await pages.total()}}`
        return { headers: { "content-type": "application/json" }, body }
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/record`,
      summary: "Calls of all runs that fit a query, the newest first: a search, or which call last changed a file",
      access: "approver",
      isWork: true,
      query: z.strictObject({
        text: z.string().max(500).optional().describe("Words that all occur in the events of a call."),
        changed: z
          .string()
          .max(4_096)
          .optional()
          .describe("A path that the call has changed; of a command, where its changes were committed."),
        tool: z.string().max(200).optional(),
        agent: z.string().max(200).optional(),
        before: z.string().max(200).optional().describe("`before` of the last answer, to go on."),
        limit: z.coerce.number().int().min(1).max(1_000).default(100)
      }),
      replies: {
        200: {
          description: "Calls; with `before` where older runs were not looked at",
          schema: z.object({ calls: z.array(FoundCall), before: z.string().optional() })
        }
      },
      handle: async ({ path, query: { text, changed, tool, agent, before, limit } }) =>
        json(
          await workspaces.named(path["workspace"]).search({
            limit,
            ...(text !== undefined && { text }),
            ...(changed !== undefined && { changed }),
            ...(tool !== undefined && { tool }),
            ...(agent !== undefined && { agent }),
            ...(before !== undefined && { before })
          })
        )
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/calls/{step}`,
      summary: "Every event of one call, in full",
      access: "approver",
      query: z.strictObject({
        from: z.coerce
          .number()
          .int()
          .min(1)
          .default(1)
          .describe("The number of its first event, if known: it is found at once.")
      }),
      replies: { 200: { description: "Events by number", schema: z.object({ events: z.array(Event) }) } },
      handle: async ({ path, query }) => {
        const events = await eventsOfCall(recordOf(path), Number(path["step"]), query.from)
        if (events.length === 0) throw new Problem(404, "unknown_call", "There is no such call on record.")
        return { headers: { "content-type": "application/json" }, body: `{"events":[${events.join(",")}]}` }
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/{run}/export`,
      summary: "The record of a run as it is: JSON, an event a line",
      access: "approver",
      replies: { 200: { description: "The record", contentTypes: ["application/x-ndjson"] } },
      handle: ({ path }) => ({
        headers: {
          "content-type": "application/x-ndjson",
          "content-disposition": `attachment; filename="haft-${path["run"]?.replaceAll(/[^\w.-]/g, "_")}.jsonl"`
        },
        body: linesOf(recordOf(path))
      })
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
        // An empty file has no ranges: it is sent whole, whatever was asked for.
        if (size === 0) {
          artifact.close()
          return { headers, body: "" }
        }
        if (range === undefined) {
          artifact.close()
          throw new Problem(416, "invalid_range", `The file has ${size} bytes.`, { "content-range": `bytes */${size}` })
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

/** The lines of a record, read when the client takes them. */
const linesOf = (pages: { readonly read: (after: number, limit: number) => Promise<ReadonlyArray<string>> }) => {
  let after = 0
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const lines = await pages.read(after, batch)
      if (lines.length === 0) return controller.close()
      after += lines.length
      controller.enqueue(new TextEncoder().encode(`${lines.join("\n")}\n`))
    }
  })
}

/** Change notifications by workspace. Notifications that a slow client has not read yet are merged, so none pile up. */
const newsOf = (workspaces: Workspaces, isOwn: (name: string) => boolean): EventFeed => {
  const news = new Map<string, string>()
  return {
    next: () => {
      const text = [...news.values()].join("")
      news.clear()
      return text
    },
    subscribe: (wake) => {
      const follow = (workspace: string, { run, subscribe, approvals, terminals }: OpenWorkspace) => {
        // Events under the same key are sent once, in their latest state.
        const say = (name: string, about: object = {}, key = JSON.stringify(about)): void => {
          const data = JSON.stringify({ workspace, run, ...about })
          news.delete(`${name} ${workspace} ${key}`)
          news.set(`${name} ${workspace} ${key}`, eventText(data, { name }))
          wake()
        }
        const tell = (name: string) => (): void => say(name)
        return [
          subscribe(tell("record")),
          approvals.subscribe((change) => {
            const { id } = change.type === "opened" ? change.request : change
            const shown =
              change.type === "opened" ? { type: change.type, request: listedRequest(change.request) } : change
            say("approvals", { ...shown, id }, id)
          }),
          terminals.subscribe(tell("terminals")),
          terminals.subscribeToOutput((terminal) => say("output", { terminal }))
        ]
      }
      const subscriptions: Array<() => void> = []
      const stop = workspaces.onOpened((name, workspace) => {
        if (isOwn(name)) subscriptions.push(...follow(name, workspace))
      })
      return () => {
        stop()
        for (const unsubscribe of subscriptions) unsubscribe()
      }
    }
  }
}

/** The events on record after the client's last one, and in between news of approvals and terminals. */
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
