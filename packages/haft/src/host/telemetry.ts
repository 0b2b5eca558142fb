import { type JournalEvent, reasonOf } from "@haft/core"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"

import { ConfigError } from "../config/config.ts"

/** Traces and metrics over OTLP, configured by the standard `OTEL_…` variables. */
export const telemetry: Layer.Layer<never> = Layer.suspend(() => {
  const resource = { serviceName: process.env["OTEL_SERVICE_NAME"] ?? "haft" }
  const { OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = process.env
  const serialization = protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf
  return Layer.merge(OtlpTracer.layerFromConfig({ resource }), OtlpMetrics.layerFromConfig({ resource })).pipe(
    Layer.provide(Layer.mergeAll(serialization, FetchHttpClient.layer, ConfigProvider.layer(environment()))),
    Layer.catchCause((cause) => Layer.effectDiscard(Effect.die(unusable(Cause.squash(cause)))))
  )
})

// A wrong variable is the user's mistake and no bug of haft's; the message names it.
const unusable = (error: unknown): ConfigError => {
  const words = reasonOf(error).replaceAll(/\s+/g, " ")
  return new ConfigError(`the variables of OpenTelemetry can't be used: ${words}`, { cause: error })
}

// OpenTelemetry's default exporter is OTLP; Effect's default is none.
const environment = (): ConfigProvider.ConfigProvider => {
  const given = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return ConfigProvider.fromEnvRecord({
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    ...Object.fromEntries(given)
  })
}

const calls = Metric.counter("haft.calls", { description: "Calls that ended", incremental: true })
const seconds = Metric.histogram("haft.call.duration", {
  description: "How long calls worked, in seconds, without the time they waited for a person",
  boundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300]
})

const connections = Metric.counter("haft.connections", {
  description: "Connections of commands that ended, and those that were refused",
  incremental: true
})
const connectionBytes = Metric.counter("haft.connection.bytes", {
  description: "Bytes that connections of commands have sent and received",
  incremental: true
})

const countConnection = ({ type, bytes_sent, bytes_received, repeated }: JournalEvent): Effect.Effect<void> => {
  if (type === "connection_refused") {
    return Metric.update(Metric.withAttributes(connections, { outcome: "refused" }), Number(repeated ?? 1))
  }
  const bytes = (direction: string, count: unknown) =>
    Metric.update(Metric.withAttributes(connectionBytes, { direction }), Number(count ?? 0))
  return Metric.update(Metric.withAttributes(connections, { outcome: "closed" }), 1).pipe(
    Effect.andThen(bytes("sent", bytes_sent)),
    Effect.andThen(bytes("received", bytes_received))
  )
}

/** Counts a call or a connection that ended. */
export const countEvent = (event: JournalEvent): Effect.Effect<void> => {
  const { type, tool, status, error, duration_sec, waited_sec } = event
  if (type === "connection_closed" || type === "connection_refused") return countConnection(event)
  if (type !== "tool_call_finished") return Effect.void
  // Names of tools that don't exist are made up by callers: each would add a series, without end.
  const labels = { tool: error === "unknown_tool" ? "unknown" : String(tool), status: String(status) }
  return Effect.andThen(
    Metric.update(Metric.withAttributes(calls, labels), 1),
    Metric.update(
      Metric.withAttributes(seconds, labels),
      Math.max(0, Number(duration_sec ?? 0) - Number(waited_sec ?? 0))
    )
  )
}
