import { useEffect, useRef, useState } from "react"

import { durationText } from "../calls/describe-call.ts"
import type { TimeBucket, ToolLatency } from "../wire.ts"
import type { DecisionCount } from "./metrics.ts"

const axisSpace = 44
const halfLabel = 28

/** Bars over time: what succeeded, and on top of it what failed. */
export const TimePlot = ({ buckets }: { readonly buckets: ReadonlyArray<TimeBucket> }) => {
  const { box, width } = useWidth()
  const height = 180
  const bottom = height - 22
  const highest = niceCeiling(Math.max(1, ...buckets.map(({ succeeded, failed }) => succeeded + failed)))
  const slot = (width - axisSpace) / Math.max(1, buckets.length)
  const barWidth = Math.min(28, Math.max(1, slot - 2))
  const y = (count: number): number => bottom - (count / highest) * (bottom - 10)
  const labels = labeled(buckets, Math.max(2, Math.floor(width / 110)))
  const total = buckets.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0)
  return (
    <div ref={box}>
      <svg width={width} height={height} role="img" aria-label={`${total} calls over time, ${failed} of them failed`}>
        {[0, highest / 2, highest].map((count) => (
          <g key={count}>
            <line className="grid" x1={axisSpace} x2={width} y1={y(count)} y2={y(count)} />
            <text x={axisSpace - 8} y={y(count) + 4} textAnchor="end">
              {count}
            </text>
          </g>
        ))}
        {buckets.map(({ from, succeeded, failed }, index) => {
          const x = axisSpace + index * slot + (slot - barWidth) / 2
          return (
            <g key={from}>
              <title>{`${clock(from)}: ${succeeded} succeeded, ${failed} failed`}</title>
              <rect className="good" x={x} width={barWidth} y={y(succeeded)} height={bottom - y(succeeded)} />
              <rect
                className="bad"
                x={x}
                width={barWidth}
                y={y(succeeded + failed)}
                height={y(succeeded) - y(succeeded + failed)}
              />
            </g>
          )
        })}
        {labels.map(({ from, index }) => (
          <text
            key={from}
            x={Math.min(axisSpace + index * slot + slot / 2, width - halfLabel)}
            y={height - 4}
            textAnchor="middle"
          >
            {clock(from)}
          </text>
        ))}
      </svg>
    </div>
  )
}

/** For each tool a line from p50 to p99, on a scale of powers of ten. */
export const LatencyPlot = ({ latencies }: { readonly latencies: ReadonlyArray<ToolLatency> }) => {
  const { box, width } = useWidth()
  const left = Math.min(150, width * 0.34)
  const rowHeight = 26
  const height = latencies.length * rowHeight + 28
  const least = Math.floor(Math.log10(Math.max(0.01, Math.min(...latencies.map(({ p50 }) => p50)))))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...latencies.map(({ p99 }) => p99)))))
  const x = (milliseconds: number): number =>
    left + ((Math.log10(Math.max(milliseconds, 10 ** least)) - least) / (most - least)) * (width - left - 16)
  const powers = Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index))
  const every = Math.ceil((powers.length * 58) / (width - left))
  return (
    <div ref={box}>
      <svg width={width} height={height} role="img" aria-label="Latency by tool; the table has the figures">
        {powers.map((power, index) => (
          <g key={power}>
            <line className="grid" x1={x(power)} x2={x(power)} y1={4} y2={height - 22} />
            {index % every === 0 && (
              <text x={x(power)} y={height - 6} textAnchor={index === powers.length - 1 ? "end" : "middle"}>
                {power < 1000 ? `${power} ms` : `${power / 1000} s`}
              </text>
            )}
          </g>
        ))}
        {latencies.map(({ tool, p50, p95, p99 }, index) => {
          const y = index * rowHeight + 18
          return (
            <g key={tool}>
              <title>{`${tool}: p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`}</title>
              <text x={left - 12} y={y + 4} textAnchor="end">
                {tool.length > 20 ? `${tool.slice(0, 19)}…` : tool}
              </text>
              <line className="range" x1={x(p50)} x2={x(p99)} y1={y} y2={y} />
              <circle className="median" cx={x(p50)} cy={y} r={5} />
              <circle className="p95" cx={x(p95)} cy={y} r={4} />
              <line className="p99" x1={x(p99)} x2={x(p99)} y1={y - 6} y2={y + 6} />
            </g>
          )
        })}
      </svg>
    </div>
  )
}

/** A bar for each decision. */
export const DecisionPlot = ({ decisions }: { readonly decisions: ReadonlyArray<DecisionCount> }) => {
  const highest = Math.max(1, ...decisions.map(({ count }) => count))
  return (
    <dl className="bars">
      {decisions.map(({ name, count }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className="bar" style={{ inlineSize: `${(count / highest) * 75}%` }} />
            {count.toLocaleString()}
          </dd>
        </div>
      ))}
    </dl>
  )
}

// Plots are drawn in real pixels, so that their text is as large on a phone as anywhere.
const useWidth = () => {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}

const niceCeiling = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([2, 4, 6, 10].find((factor) => factor * power >= value) ?? 10) * power
}

const labeled = (buckets: ReadonlyArray<TimeBucket>, most: number) => {
  const every = Math.max(1, Math.ceil(buckets.length / most))
  return buckets.flatMap(({ from }, index) => (index % every === Math.floor(every / 2) ? [{ from, index }] : []))
}

const clock = (at: number): string =>
  new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false })
