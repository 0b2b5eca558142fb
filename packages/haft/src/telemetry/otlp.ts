import { reasonOf } from "@haft/core"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"

import { ConfigError } from "../config/config.ts"

/** Exports traces, and the metrics of the registry in its context, over OTLP as the standard `OTEL_…` variables say. */
export const otlpExporter: Layer.Layer<never> = Layer.suspend(() => {
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
  return new ConfigError(`invalid OTEL_* environment variables: ${words}`, { cause: error })
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
