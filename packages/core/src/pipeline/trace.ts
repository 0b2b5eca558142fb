import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

import type { Reply } from "./call.ts"

export interface TracedCall {
  readonly tool: string
  readonly dialect: string
  readonly traceParent?: string
}

/** One span around one call, below the caller's own where the caller says which that is. */
export const traced =
  (attributes: () => TracedCall) =>
  <R>(call: Effect.Effect<Reply, never, R>): Effect.Effect<Reply, never, R> =>
    // Where nobody collects spans, a call does not pay for one.
    Effect.flatMap(Tracer.Tracer, (tracer) => (tracer === Tracer.nativeTracer ? call : spanned(call, attributes())))

const spanned = <R>(
  call: Effect.Effect<Reply, never, R>,
  { tool, dialect, traceParent }: TracedCall
): Effect.Effect<Reply, never, R> => {
  const parent = traceParent === undefined ? undefined : spanOf(traceParent)
  return call.pipe(
    Effect.tap((reply) =>
      Effect.annotateCurrentSpan(reply.error === undefined ? {} : { "error.type": reply.error.code })
    ),
    Effect.withSpan(
      `haft ${tool}`,
      {
        kind: "server",
        attributes: { "haft.tool": tool, "haft.dialect": dialect },
        ...(parent !== undefined && { parent })
      },
      { captureStackTrace: false }
    )
  )
}

/**
 * A span around one step of a call (`haft.assess`, `haft.commit`), below the call's own span. Costs a comparison where
 * nobody collects spans.
 */
export const stepSpan =
  (step: string, attributes: Readonly<Record<string, string | number>> = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer
        ? effect
        : effect.pipe(Effect.withSpan(`haft.${step}`, { attributes }, { captureStackTrace: false }))
    )

/** The span of a caller, as W3C writes it: version, trace, span, flags. Undefined for text that is not one. */
export const spanOf = (traceParent: string): Tracer.ExternalSpan | undefined => {
  const match = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(traceParent)
  if (match === null) return undefined
  const [, traceId = "", spanId = "", flags = ""] = match
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}
