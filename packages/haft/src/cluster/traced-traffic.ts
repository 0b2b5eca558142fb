import type { ForwardedAnswer, ForwardedRequest, MemberTraffic } from "@haft/cluster"
import { spanOf } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

import type { Telemetry } from "../telemetry/telemetry.ts"

/** Traffic with a span for each request to another member, below the caller's own, which the other member continues. */
export const tracedTraffic = (traffic: MemberTraffic, { context }: Telemetry): MemberTraffic => {
  const send = (request: ForwardedRequest): Effect.Effect<ForwardedAnswer, unknown> =>
    Effect.tryPromise({ try: () => traffic.forward(request), catch: (error) => error })
  const spanned = (request: ForwardedRequest): Effect.Effect<ForwardedAnswer, unknown> => {
    const parent = spanOf(request.headers["traceparent"] ?? "")
    return Effect.currentSpan.pipe(
      Effect.orDie,
      Effect.flatMap(({ traceId, spanId, sampled }) => {
        const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`
        return send({ ...request, headers: { ...request.headers, traceparent } })
      }),
      Effect.withSpan(
        "haft.forward",
        {
          kind: "client",
          attributes: { "server.address": request.address, "http.request.method": request.method },
          ...(parent !== undefined && { parent })
        },
        { captureStackTrace: false }
      )
    )
  }
  return {
    ...traffic,
    forward: (request) =>
      // Where nobody collects spans, a request does not pay for one.
      Effect.runPromiseWith(context)(
        Effect.flatMap(Tracer.Tracer, (tracer) => (tracer === Tracer.nativeTracer ? send(request) : spanned(request)))
      )
  }
}
