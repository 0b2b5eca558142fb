import { useMemo } from "react"

import { type CallLog, mostCalls } from "../calls/call-log.ts"
import { callsText, durationText } from "../calls/describe-call.ts"
import { useRun } from "../hooks/use-run.ts"
import { callsOverTime, countDecisions, latencyByTool, percentile, workingTimes } from "../metrics/metrics.ts"
import { DecisionPlot, LatencyPlot, TimePlot } from "../metrics/plot.tsx"
import { Empty, Loading, ScrollBox } from "../parts.tsx"
import type { ScreenProps } from "../screen-props.ts"
import { RunChoice } from "./activity/run-choice.tsx"
import { ConnectionTable } from "./connection-table.tsx"

/** Tools with a line in the plot; the table has all of them. */
const mostLines = 12

/** A run in figures. */
export const Metrics = ({ api, run, log: live }: ScreenProps) => {
  const { chosen, choose, log } = useRun(api, run, live)
  return (
    <>
      <header className="section-head">
        <h2>Metrics</h2>
        <RunChoice api={api} current={run} chosen={chosen} onChange={choose} />
      </header>
      <Loading loaded={log}>
        {({ calls, isCut }) => (
          <>
            {isCut === true && (
              <p className="quiet">Of the last {callsText(mostCalls)}; older ones are in the export.</p>
            )}
            <Figures calls={calls} />
          </>
        )}
      </Loading>
    </>
  )
}

const Figures = ({ calls }: Pick<CallLog, "calls">) => {
  const buckets = useMemo(() => callsOverTime(calls, 60), [calls])
  const latencies = useMemo(() => latencyByTool(calls), [calls])
  const decisions = useMemo(() => countDecisions(calls), [calls])
  const connections = useMemo(() => calls.flatMap((call) => call.connections ?? []), [calls])
  const ended = calls.filter(({ durationMs }) => durationMs !== undefined)
  const failed = ended.filter(({ status }) => status === "error").length
  const times = workingTimes(ended)
  const tiles: ReadonlyArray<readonly [string, string]> = [
    ["calls", calls.length.toLocaleString()],
    [
      "failed",
      ended.length === 0 ? "0" : `${failed.toLocaleString()} (${((failed / ended.length) * 100).toFixed(1)} %)`
    ],
    ["p50", durationText(percentile(times, 50))],
    ["p95", durationText(percentile(times, 95))]
  ]
  if (ended.length === 0) return <Empty title="No metrics yet">They are made from the calls of a run.</Empty>
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
          <LatencyPlot latencies={latencies.slice(0, mostLines)} />
        </figure>
        <figure className="plot">
          <figcaption>Decisions</figcaption>
          <DecisionPlot decisions={decisions} />
        </figure>
      </div>
      <LatencyTable latencies={latencies} />
      <ConnectionTable events={connections} />
    </>
  )
}

const LatencyTable = ({ latencies }: { readonly latencies: ReturnType<typeof latencyByTool> }) => (
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
        {latencies.map(({ tool, calls, failed, median, p95, p99 }) => (
          <tr key={tool}>
            <th scope="row">{tool}</th>
            <td>{calls.toLocaleString()}</td>
            <td>{failed.toLocaleString()}</td>
            <td>{durationText(median)}</td>
            <td>{durationText(p95)}</td>
            <td>{durationText(p99)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollBox>
)
