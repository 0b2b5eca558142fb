import { randomUUID } from "node:crypto"

import type { WorkspaceCopy } from "@haft/cluster"
import { type ErrorCode, makeToolError, type Reply } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import * as Effect from "effect/Effect"

/** Calls of one workspace by request id, over all its dialects. */
export type CallsByRequestId = Map<string, Promise<Reply>>

/** A host whose calls have effects once: a request that is sent again gets the reply of the first. */
export const clusteredHost = (host: OpenHost, copy: WorkspaceCopy, running: CallsByRequestId): OpenHost => {
  const reading = new Set(
    host.tools.filter(({ risk, openWorld }) => risk === "read_only" && !openWorld).map(({ name }) => name)
  )

  const callOnce = async (
    tool: string,
    args: unknown,
    options: PromiseCallOptions,
    requestId: string
  ): Promise<Reply> => {
    if (options.requestId !== undefined) {
      const earlier = await Effect.runPromise(copy.recall(requestId)).catch(() => undefined)
      if (earlier?.kind === "replied") return restored(earlier.reply)
    }
    const ended = (reply: unknown): Promise<void> => Effect.runPromise(copy.finish(requestId, tool, reply))
    const reply = await host.call(tool, args, { ...options, requestId }).catch(async (error: unknown) => {
      await ended(undefined)
      throw error
    })
    // Without an id of its caller the call can't be sent again, so nobody asks for its reply.
    await ended(options.requestId === undefined ? undefined : stored(reply))
    return reply
  }

  const call: OpenHost["call"] = (tool, args, options = {}) => {
    if (reading.has(tool)) return host.call(tool, args, options)
    const requestId = options.requestId ?? randomUUID()
    const before = running.get(requestId)
    if (before !== undefined) return before
    const started = callOnce(tool, args, options, requestId).finally(() => running.delete(requestId))
    running.set(requestId, started)
    return started
  }
  return { ...host, call, tool: (name) => (args, options) => call(name, args, options) }
}

/** A reply as it is stored: plain data. */
const stored = ({ error, ...reply }: Reply): unknown => {
  if (error === undefined) return reply
  const { code, message, suggestion, details, retryable } = error
  return { ...reply, error: { code, message, suggestion, details, retryable } }
}

const restored = (value: unknown): Reply => {
  const { error, ...reply } = value as Record<string, unknown> & { readonly error?: Readonly<Record<string, unknown>> }
  if (error === undefined) return reply as unknown as Reply
  const { code, message, ...rest } = error as { readonly code: ErrorCode; readonly message: string }
  return { ...reply, error: makeToolError(code, message, rest) } as unknown as Reply
}
