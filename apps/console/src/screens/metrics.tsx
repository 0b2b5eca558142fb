import { useCallback, useEffect, useMemo, useState } from "react"

import { durationText } from "../calls/describe-call.ts"
import { useLoad } from "../hooks/use-load.ts"
import { decisionCounts } from "../metrics/metrics.ts"
import { DecisionPlot, LatencyPlot, TimePlot } from "../metrics/plot.tsx"
import { Empty, Loading, ScrollBox } from "../parts.tsx"
import type { ScreenProps } from "../screen-props.ts"
import type { RecordMetrics, ToolLatency } from "../wire.ts"
import { RunChoice } from "./activity/run-choice.tsx"
import { ConnectionTable } from "./connection-table.tsx"

/** Tools with a line in the plot; the table has all of them. */
const mostLines = 12

/** Calls within this time cause one load. */
const gatherMs = 1_000

const wholeRecord = ""

/** The whole record in figures, or one run of it. */
export const Metrics = ({ api, run, log }: ScreenProps) => {
  const [chosen, choose] = useState(wholeRecord)
  const load = useCallback(() => api.metrics(chosen === wholeRecord ? undefined : chosen), [api, chosen])
  const { loaded, reload } = useLoad(load)
  const connections = useMemo(() => log.calls.flatMap((call) => call.connections ?? []), [log])
  useEffect(() => {
    const timer = window.setTimeout(reload, gatherMs)
    return () => window.clearTimeout(timer)
  }, [log, reload])
  return (
    <>
      <header className="section-head">
        <h2>Metrics</h2>
        <RunChoice api={api} current={run} chosen={chosen} onChange={choose} all="Whole record" />
      </header>
      <Loading loaded={loaded}>{(metrics) => <Figures metrics={metrics} />}</Loading>
      <ConnectionTable title="Connections of the current run" events={connections} />
    </>
  )
}

const Figures = ({ metrics }: { readonly metrics: RecordMetrics }) => {
  const { calls, failed, p50, p95, buckets, tools } = metrics
  const tiles: ReadonlyArray<readonly [string, string]> = [
    ["runs", metrics.runs.toLocaleString()],
    ["calls", calls.toLocaleString()],
    ["failed", calls === 0 ? "0" : `${failed.toLocaleString()} (${((failed / calls) * 100).toFixed(1)} %)`],
    ["p50", durationText(p50)],
    ["p95", durationText(p95)]
  ]
  if (calls === 0) return <Empty title="No metrics yet">They are made from the calls on record.</Empty>
  return (
    <>
      <dl className="tiles">
        {tiles.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="plots">
        <figure className="plot wide">
          <figcaption>
            Calls over time
            <span className="legend">
              <i className="good" /> succeeded <i className="bad" /> failed
            </span>
          </figcaption>
          <TimePlot buckets={buckets} />
        </figure>
        <figure className="plot">
          <figcaption>
            Latency by tool
            <span className="legend">
              <i className="median" /> p50 <i className="p95" /> p95 <i className="p99" /> p99
            </span>
          </figcaption>
          <LatencyPlot latencies={tools.slice(0, mostLines)} />
        </figure>
        <figure className="plot">
          <figcaption>Decisions</figcaption>
          <DecisionPlot decisions={decisionCounts(metrics.decisions)} />
        </figure>
      </div>
      <LatencyTable latencies={tools} />
    </>
  )
}

const LatencyTable = ({ latencies }: { readonly latencies: ReadonlyArray<ToolLatency> }) => (
  <ScrollBox label="Figures by tool">
    <table>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Calls</th>
          <th scope="col">Failed</th>
          <th scope="col">p50</th>
          <th scope="col">p95</th>
          <th scope="col">p99</th>
        </tr>
      </thead>
      <tbody>
        {latencies.map(({ tool, calls, failed, p50, p95, p99 }) => (
          <tr key={tool}>
            <th scope="row">{tool}</th>
            <td>{calls.toLocaleString()}</td>
            <td>{failed.toLocaleString()}</td>
            <td>{durationText(p50)}</td>
            <td>{durationText(p95)}</td>
            <td>{durationText(p99)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollBox>
)
