import * as z from "zod"

import type { JournalEvent } from "../services/journal.ts"

// In memory a time is a number, in a file an ISO text.
const Time = z.union([z.number(), z.string().transform((text) => Date.parse(text))])

const Started = z.object({
  type: z.literal("tool_call_started"),
  request_id: z.string(),
  step: z.number(),
  tool: z.string(),
  operation: z.string().optional(),
  dialect: z.string(),
  at: Time,
  params: z.unknown()
})

const Finished = z.object({
  type: z.literal("tool_call_finished"),
  step: z.number(),
  at: Time,
  status: z.enum(["success", "error"]),
  error: z.string().optional(),
  duration_sec: z.number().optional(),
  aborted: z.boolean().optional(),
  touches: z
    .object({
      risk: z.enum(["read_only", "safe_write", "dangerous"]),
      reads: z.array(z.string()).optional(),
      directories: z.array(z.string()).optional(),
      writes: z.array(z.object({ path: z.string(), exists: z.boolean() })).optional(),
      runs: z.string().optional(),
      network: z.literal(true).optional(),
      confined: z.enum(["read_only", "overlay", "workspace"]).optional(),
      removedFiles: z.number().optional(),
      replacedBytes: z.number().optional(),
      fetches: z.string().optional(),
      types: z.string().optional()
    })
    .optional(),
  approval: z
    .object({
      decision: z.enum(["allow", "deny"]),
      by: z.enum(["policy", "person", "nobody"]),
      reason: z.string(),
      rule: z.string().optional(),
      basis: z.string().optional(),
      asks: z.boolean()
    })
    .optional(),
  reply: z.unknown()
})

const Edited = z.object({ type: z.literal("approval_decided"), step: z.number(), params: z.looseObject({}) })

/** A call as the record has it: its beginning and, unless the host died first, its end. */
export interface RecordedCall {
  readonly requestId: string
  readonly step: number
  readonly tool: string
  readonly operation?: string
  readonly dialect: string
  /** As the caller sent them, without secrets. */
  readonly params: unknown
  /** Arguments as changed by the approver, where they were changed. */
  readonly editedParams?: unknown
  readonly startedAt: number
  /** `aborted` for a call whose end is not on record. */
  readonly status: "success" | "error" | "aborted"
  readonly error?: string
  readonly durationMs?: number
  readonly touches?: z.output<typeof Finished>["touches"]
  readonly approval?: z.output<typeof Finished>["approval"]
  readonly reply?: unknown
  /** Something was left out of the parameters: they are not what the tool got. */
  readonly isRedacted: boolean
}

/** The calls of a run in the order they began. Events that belong to no call are passed over. */
export const recordedCalls = (events: Iterable<JournalEvent>): ReadonlyArray<RecordedCall> => {
  const calls = new Map<number, RecordedCall>()
  for (const event of events) {
    const started = Started.safeParse(event)
    if (started.success) {
      const { request_id: requestId, step, tool, dialect, at: startedAt, params } = started.data
      const operation = started.data.operation === undefined ? {} : { operation: started.data.operation }
      const isRedacted = hasRedactions(params)
      calls.set(step, {
        requestId,
        step,
        tool,
        ...operation,
        dialect,
        params,
        startedAt,
        status: "aborted",
        isRedacted
      })
      continue
    }
    const edited = Edited.safeParse(event)
    const approved = edited.success ? calls.get(edited.data.step) : undefined
    if (edited.success && approved !== undefined) {
      const { params: editedParams } = edited.data
      const isRedacted = approved.isRedacted || hasRedactions(editedParams)
      calls.set(approved.step, { ...approved, editedParams, isRedacted })
      continue
    }
    const finished = Finished.safeParse(event)
    const call = finished.success ? calls.get(finished.data.step) : undefined
    if (!finished.success || call === undefined) continue
    const { aborted, status, error, duration_sec, touches, approval, reply } = finished.data
    calls.set(call.step, {
      ...call,
      status: aborted === true ? "aborted" : status,
      ...(duration_sec !== undefined && { durationMs: duration_sec * 1000 }),
      ...(reply !== undefined && { reply }),
      ...(error !== undefined && { error }),
      ...(touches !== undefined && { touches }),
      ...(approval !== undefined && { approval })
    })
  }
  return [...calls.values()]
}

const hasRedactions = (value: unknown): boolean => {
  if (typeof value === "string") return value.includes("[redacted]") || value === "[withheld]"
  return typeof value === "object" && value !== null && Object.values(value).some(hasRedactions)
}
