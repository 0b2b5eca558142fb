import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/** A metric by its OpenTelemetry name, such as `haft.calls`. Prometheus' name is made from it, its kind and its unit. */
export interface Instrument {
  readonly id: string
  readonly description: string
  readonly unit?: "bytes"
}

export type Labels = Readonly<Record<string, string>>

/** Adds a value to the series of some labels. One instrument always has the same labels, in the same order. */
export type Observe = (labels: Labels, value: number) => void

/** A count of events or of bytes. */
export const counter = (instrument: Instrument, context: Context.Context<never>): Observe =>
  bySeries(context, (attributes) =>
    Metric.counter(instrument.id, {
      description: instrument.description,
      incremental: true,
      attributes: withUnit(attributes, instrument.unit)
    })
  )

/** A distribution of durations in seconds. */
export const durations = ({ id, description }: Instrument, context: Context.Context<never>): Observe =>
  bySeries(context, (attributes) =>
    Metric.histogram(id, {
      description,
      attributes: withUnit(attributes, "seconds"),
      boundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300]
    })
  )

/** Registers a figure that is read whenever the metrics are; the returned function removes it. */
export const gauge = (
  { id, description, unit, labels = {} }: Instrument & { readonly labels?: Labels },
  context: Context.Context<never>,
  read: () => number
): (() => void) => {
  const ignore = (): void => {}
  const registered = Metric.registerUnsafe(
    Metric.gauge(id, { description, attributes: withUnit(labels, unit) }),
    context,
    { get: () => ({ value: read() }), update: ignore, modify: ignore }
  )
  return () => registered.remove()
}

const withUnit = (labels: Labels, unit: string | undefined): Labels =>
  unit === undefined ? labels : { ...labels, unit }

// Kept, because a metric computes its key once: requests and calls are counted with it.
const bySeries = <State>(
  context: Context.Context<never>,
  make: (attributes: Labels) => Metric.Metric<number, State>
): Observe => {
  const series = new Map<string, Metric.Metric<number, State>>()
  return (labels, value) => {
    const key = Object.values(labels).join("\0")
    const known = series.get(key) ?? make(labels)
    series.set(key, known)
    known.updateUnsafe(value, context)
  }
}
