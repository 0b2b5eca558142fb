import type { TerminalOutput } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { type EventFeed, eventStream, eventText } from "../http/event-stream.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import type { Workspaces } from "../workspaces.ts"

const base = "/v1/workspaces/{workspace}/terminals"

const Terminal = z.object({
  id: z.string(),
  command: z.string(),
  directory: z.string(),
  isRunning: z.boolean(),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  cols: z.number(),
  rows: z.number(),
  openedAt: z.number(),
  recording: z.string().nullable()
})

/** Terminals that agents have opened, for the approver to watch and to take over. */
export const terminalRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => {
  const terminalsOf = (path: Readonly<Record<string, string>>) => workspaces.named(path["workspace"]).terminals
  const outputOf = (path: Readonly<Record<string, string>>): TerminalOutput => {
    const output = terminalsOf(path).output(path["terminal"] ?? "")
    if (output === undefined) throw new Problem(404, "unknown_terminal", "There is no such terminal; it may be closed.")
    return output
  }
  return [
    defineRoute({
      method: "GET",
      path: base,
      summary: "The terminals that are open, in whichever dialect, and those that ended a while ago; oldest first",
      access: "approver",
      replies: { 200: { description: "Terminals", schema: z.object({ terminals: z.array(Terminal) }) } },
      handle: ({ path }) => json({ terminals: terminalsOf(path).list() })
    }),
    defineRoute({
      method: "GET",
      path: `${base}/{terminal}/output`,
      summary:
        "What a terminal prints, as it happens (server-sent events): size, output in base64, end. Last-Event-ID takes " +
        "up where a client left off; what is no longer kept is left out",
      access: "approver",
      headers: { "Last-Event-ID": "The id of the last output that the client has; the stream goes on after it." },
      replies: { 200: { description: "A stream", contentTypes: ["text/event-stream"] } },
      handle: ({ path, request }) => {
        const output = printedBy(outputOf(path), Number(request.headers.get("last-event-id") ?? 0))
        return eventStream(output)
      }
    }),
    defineRoute({
      method: "GET",
      path: `${base}/{terminal}/output/page`,
      summary: "The output after a number of bytes, as far as it is still kept; `output` of /v1/events tells of more",
      access: "approver",
      query: z.strictObject({ after: z.coerce.number().int().min(0).default(0) }),
      replies: {
        200: {
          description: "At most 256 KiB, and the number for the next page",
          schema: z.object({
            bytes: z.base64(),
            after: z.number(),
            hasMore: z.boolean(),
            cols: z.number(),
            rows: z.number(),
            isRunning: z.boolean()
          })
        }
      },
      handle: ({ path, query }) => {
        const output = outputOf(path)
        const { cols, rows, isRunning } = output.now()
        const { bytes, cursor } = output.read(query.after, pageBytes)
        return json({
          bytes: Buffer.from(bytes).toString("base64"),
          after: cursor,
          hasMore: bytes.length === pageBytes,
          cols,
          rows,
          isRunning
        })
      }
    }),
    defineRoute({
      method: "POST",
      path: `${base}/{terminal}/input`,
      summary: "Types into a terminal. It is a call like any other: the rules apply, and it is on record",
      access: "approver",
      isWork: true,
      body: z.strictObject({ text: z.string().min(1).max(100_000) }),
      replies: { 200: { description: "It was typed", schema: z.object({ typed: z.literal(true) }) } },
      handle: async ({ path, body }) => {
        outputOf(path)
        const reply = await terminalsOf(path).type(path["terminal"] ?? "", body.text)
        if (reply.error === undefined) return json({ typed: true })
        throw new Problem(409, reply.error.code, reply.error.message)
      }
    })
  ]
}

/** How many bytes of output one event has at most. */
const pieceBytes = 32_768

/** How many bytes of output one page has at most. */
const pageBytes = 256 * 1024

const printedBy = (output: TerminalOutput, from: number): EventFeed => {
  let cursor = Number.isSafeInteger(from) ? from : 0
  let size = ""
  let hasEnded = false
  return {
    next: () => {
      if (hasEnded) return undefined
      const now = output.now()
      const texts: Array<string> = []
      const newSize = JSON.stringify({ cols: now.cols, rows: now.rows })
      if (newSize !== size) texts.push(eventText(newSize, { name: "size" }))
      size = newSize
      const piece = output.read(cursor, pieceBytes)
      cursor = piece.cursor
      if (piece.bytes.length > 0) {
        const data = JSON.stringify({ bytes: Buffer.from(piece.bytes).toString("base64") })
        texts.push(eventText(data, { id: cursor, name: "output" }))
      } else if (!now.isRunning) {
        hasEnded = true
        const { exitCode, signal } = now
        texts.push(eventText(JSON.stringify({ exitCode, signal }), { name: "end" }))
      }
      return texts.join("")
    },
    subscribe: output.subscribe
  }
}
