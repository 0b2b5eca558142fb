import { useMemo } from "react"

import type { CallLog } from "../calls/call-log.ts"
import { durationText } from "../calls/describe-call.ts"
import { useRun } from "../hooks/use-run.ts"
import { callsOverTime, countDecisions, latencyByTool, percentile, workingTimes } from "../metrics/metrics.ts"
import { DecisionPlot, LatencyPlot, TimePlot } from "../metrics/plot.tsx"
import { Empty, Loading, ScrollBox } from "../parts.tsx"
import type { ScreenProps } from "../screen-props.ts"
import { RunChoice } from "./activity/run-choice.tsx"

/** Tools with a line in the plot; the table has all of them. */
const mostLines = 12

/** A run in figures. */
export const Numbers = ({ api, run, log: live }: ScreenProps) => {
  const { chosen, choose, log } = useRun(api, run, live)
  return (
    <>
      <header className="section-head">
        <h2>Numbers</h2>
        <RunChoice api={api} current={run} chosen={chosen} onChange={choose} />
      </header>
      <Loading loaded={log}>{({ calls }) => <Figures calls={calls} />}</Loading>
    </>
  )
}

const Figures = ({ calls }: Pick<CallLog, "calls">) => {
  const buckets = useMemo(() => callsOverTime(calls, 60), [calls])
  const latencies = useMemo(() => latencyByTool(calls), [calls])
  const decisions = useMemo(() => countDecisions(calls), [calls])
  const ended = calls.filter(({ durationMs }) => durationMs !== undefined)
  const failed = ended.filter(({ status }) => status === "error").length
  const times = workingTimes(ended)
  const tiles: ReadonlyArray<readonly [string, string]> = [
    ["calls", calls.length.toLocaleString()],
    [
      "failed",
      ended.length === 0 ? "0" : `${failed.toLocaleString()} (${((failed / ended.length) * 100).toFixed(1)} %)`
    ],
    ["half within", durationText(percentile(times, 50))],
    ["95 % within", durationText(percentile(times, 95))]
  ]
  if (ended.length === 0) return <Empty title="No numbers yet">They are made from the calls of a run.</Empty>
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
            How long calls worked
            <span className="legend">
              <i className="median" /> half <i className="p95" /> 95 % <i className="p99" /> 99 %
            </span>
          </figcaption>
          <LatencyPlot latencies={latencies.slice(0, mostLines)} />
        </figure>
        <figure className="plot">
          <figcaption>Who decided</figcaption>
          <DecisionPlot decisions={decisions} />
        </figure>
      </div>
      <LatencyTable latencies={latencies} />
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
          <th scope="col">Half within</th>
          <th scope="col">95 %</th>
          <th scope="col">99 %</th>
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
