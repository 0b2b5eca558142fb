import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** A registry as Prometheus' text. With `workspaces`, of the series that belong to a workspace only theirs. */
export const prometheusText = (registry: Metric.MetricRegistry, workspaces?: ReadonlyArray<string>): string => {
  const shown = [...registry].filter(([, { attributes }]) => {
    const workspace = attributes?.["workspace"]
    return workspace === undefined || workspaces === undefined || workspaces.includes(workspace)
  })
  const names = new Map(shown.map(([, metric]) => [metric.id, nameOf(metric)]))
  return PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, new Map(shown)), {
    metricNameMapper: (id) => names.get(id) ?? id
  })
}

/** The name by the rules of OpenTelemetry's Prometheus exporter: unit and `total` are suffixes. */
const nameOf = ({ id, type, attributes }: Metric.Metric.Metadata<unknown, unknown>): string =>
  [id, attributes?.["unit"], type === "Counter" ? "total" : undefined].filter((part) => part !== undefined).join("_")
