import { exportFormats, exportTools, type HaftConfig, isToolError, modeNames, nameOfDialect } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { gatherJson } from "../http/gather.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { partyOf } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

/** Preview of a call, or the reason why it can't be made. */
const Preview = z.union([
  z.object({
    ok: z.literal(true),
    preview: z.object({
      tool: z.string(),
      input: z.record(z.string(), z.unknown()).describe("The arguments with their defaults."),
      facts: z.object({
        reads: z.array(z.string()),
        writes: z.array(
          z.object({
            path: z.string(),
            exists: z.boolean(),
            isProtected: z.boolean(),
            protectedPath: z.string().optional()
          })
        ),
        directories: z.array(z.string()).optional().describe("Those of the paths that are directories."),
        runs: z.string().optional(),
        network: z.literal(true).optional(),
        confined: z
          .enum(["read_only", "overlay", "workspace"])
          .optional()
          .describe("How a sandbox keeps it from changing files."),
        removedFiles: z.number().optional().describe("Files that are deleted or moved."),
        replacedBytes: z.number().optional().describe("Bytes of existing files that are changed."),
        fetches: z.string().optional(),
        types: z.object({ terminal: z.string(), text: z.string() }).optional(),
        risk: z.enum(["read_only", "safe_write", "dangerous"])
      }),
      asks: z.boolean().describe("Whether the contract wants a person."),
      verdict: z.object({
        decision: z.enum(["allow", "ask", "deny"]),
        reason: z.string(),
        basis: z
          .string()
          .optional()
          .describe("What it rests on: rule, protected_path, mode, setting, contract, error."),
        rule: z.string().optional()
      }),
      diff: z.string().optional()
    })
  }),
  z.object({
    ok: z.literal(false),
    error: z.object({ code: z.string(), message: z.string(), suggestion: z.string().optional() })
  })
])

/** A workspace that is not open here, as its configuration describes it. */
const elsewhere = ({ dialect, alsoDialects = [], mode = "ask" }: HaftConfig) => ({
  run: "",
  dialects: [...new Set([nameOfDialect(dialect), ...alsoDialects])],
  mode
})

/** Workspaces, their tools, and calls. */
export const callRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: "/v1/workspaces",
    summary: "The workspaces of this server",
    access: "agent",
    replies: {
      200: {
        description: "Names, with the run that records them and the dialects that callers may choose",
        schema: z.object({
          workspaces: z.array(
            z.object({
              name: z.string(),
              run: z.string().describe("Empty for a workspace of a cluster that no member has open."),
              dialect: z.string().describe("The default."),
              dialects: z.array(z.string()).describe("All that are granted, the default first."),
              mode: z.enum(modeNames).describe("How much runs without a question.")
            })
          )
        })
      }
    },
    gather: gatherJson<{ workspaces: ReadonlyArray<{ readonly name: string; readonly run: string }> }>((bodies) => {
      const all = Map.groupBy(
        bodies.flatMap(({ workspaces: known }) => known),
        ({ name }) => name
      )
      return { workspaces: [...all.values()].flatMap((same) => same.find(({ run }) => run !== "") ?? same.slice(0, 1)) }
    }),
    handle: ({ identity }) => {
      const isOwn = (name: string): boolean => identity?.workspaces?.includes(name) ?? true
      const open = new Map(workspaces.all())
      const known = workspaces.names.filter(isOwn).map((name) => {
        const here = open.get(name)
        const { dialects, mode, run } =
          here === undefined ? elsewhere(workspaces.config(name)) : { ...here, mode: here.mode() }
        return { name, run, dialect: dialects[0] ?? "", dialects, mode }
      })
      return json({ workspaces: known })
    }
  }),
  defineRoute({
    method: "GET",
    path: "/v1/workspaces/{workspace}/tools",
    summary: "The tools of a workspace, in a dialect and in the format of an API",
    access: "agent",
    query: z.strictObject({
      dialect: z.string().optional(),
      format: z.enum(exportFormats).default("json")
    }),
    replies: { 200: { description: "As `haft tools --format` prints it", schema: z.json() } },
    handle: async ({ path, query, identity }) => {
      const host = await workspaces.host(path["workspace"], query.dialect, identity)
      return json(exportTools(host.tools, query.format))
    }
  }),
  defineRoute({
    method: "POST",
    path: "/v1/workspaces/{workspace}/calls",
    summary: "Calls a tool. A failure of the tool is a reply like any other",
    access: "agent",
    isWork: true,
    headers: { traceparent: "The caller's own span, in W3C's words; the span of the call goes below it." },
    body: z.strictObject({
      tool: z.string().min(1),
      params: z.unknown().default({}),
      request_id: z.string().min(1).max(200).optional(),
      dialect: z.string().optional(),
      blocks: z
        .boolean()
        .default(false)
        .describe("Answer with `reply`, the envelope, and `blocks`: text, images and sounds as base64, resource links.")
    }),
    replies: {
      200: { description: "The dialect's envelope, or `reply` and `blocks`", schema: z.looseObject({}) },
      429: { description: "The same, where too many questions wait for a person already", schema: z.looseObject({}) }
    },
    handle: async ({ path, body, request, identity }) => {
      const host = await workspaces.host(path["workspace"], body.dialect, identity)
      const traceParent = request.headers.get("traceparent")
      const caller = partyOf(identity)
      const reply = await host.call(body.tool, body.params, {
        signal: request.signal,
        ...(traceParent !== null && { traceParent }),
        ...(body.request_id !== undefined && { requestId: body.request_id }),
        // A person with the approver's token has approved the call by making it.
        ...(caller !== undefined && { caller }),
        ...(caller !== undefined &&
          caller.role !== "agent" && {
            ask: async () => ({ approved: true, reason: `called by the ${caller.role}`, by: caller })
          })
      })
      const isOverloaded = reply.error?.details?.["overloaded"] === true
      return json(
        body.blocks ? { reply: reply.wire, blocks: reply.blocks } : reply.wire,
        isOverloaded ? { status: 429, headers: { "retry-after": "5" } } : {}
      )
    }
  }),
  defineRoute({
    method: "POST",
    path: "/v1/workspaces/{workspace}/previews",
    summary: "What a call would touch and change, and whether it would ask; nothing is run",
    access: "agent",
    isWork: true,
    body: z.strictObject({ tool: z.string().min(1), params: z.unknown().default({}), dialect: z.string().optional() }),
    replies: { 200: { description: "The preview, or why there is none", schema: Preview } },
    handle: async ({ path, body, identity }) => {
      const host = await workspaces.host(path["workspace"], body.dialect, identity)
      const preview = await host.preview(body.tool, body.params).then(
        (value) => ({ ok: true, preview: value }),
        (error: unknown) => {
          if (!isToolError(error)) throw error
          const { code, message, suggestion } = error
          return { ok: false, error: { code, message, ...(suggestion !== undefined && { suggestion }) } }
        }
      )
      return json(preview)
    }
  })
]
