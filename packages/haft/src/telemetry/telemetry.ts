import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Metric from "effect/Metric"

import { counter, durations, gauge, type Instrument, type Labels, type Observe } from "./instruments.ts"

/**
 * Metrics and traces of a process, in one registry for all of its workspaces: read as Prometheus' text, and exported
 * over OTLP where the environment names a collector.
 */
export interface Telemetry {
  /** The registry, and the tracer where one exports. */
  readonly context: Context.Context<never>
  readonly counter: (instrument: Instrument) => Observe
  /** A distribution of durations in seconds. */
  readonly durations: (instrument: Instrument) => Observe
  /** Registers a figure that is read whenever the metrics are; the returned function removes it. */
  readonly gauge: (instrument: Instrument & { readonly labels?: Labels }, read: () => number) => () => void
  /** All series as Prometheus' text. With `workspaces`, of the series that belong to a workspace only theirs. */
  readonly prometheus: (workspaces?: ReadonlyArray<string>) => Promise<string>
  /** Sends what is left to the collector. */
  readonly dispose: () => Promise<void>
}

/** Opens the telemetry of a process. Rejects with `ConfigError` on `OTEL_…` variables that can't be used. */
export const openTelemetry = async (): Promise<Telemetry> => {
  const registry: Metric.MetricRegistry = new Map()
  // The exporter is loaded only where the environment asks for it, because most hosts do without.
  const exporter = isExported() ? (await import("./otlp.ts")).otlpExporter : Layer.empty
  const runtime = ManagedRuntime.make(exporter.pipe(Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, registry))))
  const context = await runtime.context()
  return {
    context,
    counter: (instrument) => counter(instrument, context),
    durations: (instrument) => durations(instrument, context),
    gauge: (instrument, read) => gauge(instrument, context, read),
    prometheus: async (workspaces) => (await import("./prometheus.ts")).prometheusText(registry, workspaces),
    dispose: () => runtime.dispose()
  }
}

/** True where the environment names a collector for traces or metrics. */
export const isExported = (): boolean =>
  ["", "_TRACES", "_METRICS"].some((kind) => (process.env[`OTEL_EXPORTER_OTLP${kind}_ENDPOINT`] ?? "") !== "")

/** The part of a process' telemetry for the runtime of one workspace: all its series carry the workspace's name. */
export const telemetryOf = ({ context }: Telemetry, workspace: string): Context.Context<never> =>
  Context.add(context, Metric.CurrentMetricAttributes, { workspace })
