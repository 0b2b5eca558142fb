import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import { type ForwardedAnswer, ForwardError, type Member, type MemberTraffic } from "@haft/cluster"
import * as Effect from "effect/Effect"

/** The status with which a member answers for a workspace that it does not own. */
export const notOwnerStatus = 421

/** A request for a workspace, as the member that received it passes it on. */
export interface RequestToPass {
  readonly workspace: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body; undefined for a request without one. */
  readonly body: unknown
  /** The caller as this member has identified it, as JSON. */
  readonly caller: string
  readonly signal: AbortSignal
}

/** A request whose owner failed while it worked, and that can't be sent again safely. */
export class RequestOutcomeUnknown extends Error {
  override readonly name = "RequestOutcomeUnknown"
}

/** The workspace where this member owns it, for a request that another member has passed on. */
export const serveHere = <W>(member: Member<W>, workspace: string): Promise<W | undefined> =>
  Effect.runPromise(member.serve(workspace))

const watchMs = 1_000
const retryMs = 100
const patienceMs = 30_000

/**
 * Passes a request on to the owner of its workspace; undefined where that is this member. When the owner fails, requests
 * that can be repeated go to the next one: reads, and calls, because a call has a request id and takes effect once.
 */
export const passOn = async (
  member: Member<unknown>,
  traffic: MemberTraffic,
  given: RequestToPass
): Promise<ForwardedAnswer | undefined> => {
  const { workspace, signal } = given
  const deadline = performance.now() + patienceMs
  const isCall = given.method === "POST" && /\/calls(?:\?|$)/.test(given.path)
  const body = isCall ? withRequestId(given.body) : given.body
  const isRepeatable = isCall || given.method === "GET" || given.method === "HEAD"
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body))
  for (;;) {
    const placed = await Effect.runPromise(member.route(workspace), { signal })
    if (placed.kind === "here") return undefined
    const watch = watchOwner(member, { workspace, address: placed.address }, signal)
    try {
      const answer = await traffic.forward({ ...given, address: placed.address, body: bytes, signal: watch.signal })
      if (answer.status !== notOwnerStatus) return { ...answer, body: endingWith(answer.body, watch.stop) }
      await answer.body.cancel()
      watch.stop()
    } catch (error) {
      watch.stop()
      if (signal.aborted) throw error
      if (!(error instanceof ForwardError)) throw error
      if (error.wasSent && !isRepeatable) {
        throw new RequestOutcomeUnknown(
          `the owner of workspace '${workspace}' failed before it answered: ${error.message}`
        )
      }
    }
    member.forget(workspace)
    if (performance.now() > deadline) {
      throw new RequestOutcomeUnknown(`no owner of workspace '${workspace}' answered within ${patienceMs / 1000} s`)
    }
    await sleep(retryMs, undefined, { signal })
  }
}

/** Aborts a request when its workspace gets another owner, so that a member that is frozen or cut off holds nobody up. */
const watchOwner = (
  member: Member<unknown>,
  { workspace, address }: { readonly workspace: string; readonly address: string },
  outer: AbortSignal
) => {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const timer = setInterval(() => {
    Effect.runPromise(member.find(workspace)).then(
      // By its address: an owner may give itself a new epoch.
      (now) => now !== undefined && now.address !== address && abort(),
      () => undefined
    )
  }, watchMs)
  outer.addEventListener("abort", abort, { once: true })
  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(timer)
      outer.removeEventListener("abort", abort)
    }
  }
}

const endingWith = (body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onEnd()
        throw error
      })
      if (!done) return controller.enqueue(value)
      onEnd()
      controller.close()
    },
    cancel: async (reason) => {
      onEnd()
      await reader.cancel(reason)
    }
  })
}

const withRequestId = (body: unknown): unknown =>
  typeof body === "object" && body !== null && !("request_id" in body) ? { ...body, request_id: randomUUID() } : body
