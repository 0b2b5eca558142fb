import { cpus, loadavg, totalmem } from "node:os"

import type { Result } from "./benchmark.ts"

/** The results as a table for a terminal and for Markdown. */
export const tableOf = (results: ReadonlyArray<Result>): string => {
  const rows = results.flatMap((result) =>
    result.measured.map((measured) => [
      `${result.group}: ${result.name}${result.size === undefined ? "" : `, ${result.size.label}`}`,
      measured.version === undefined ? measured.contender : `${measured.contender} ${measured.version}`,
      timeText(measured.median),
      `${timeText(measured.lowerQuartile)} – ${timeText(measured.upperQuartile)}`,
      measured.contender === result.floor ? "1" : ratioText(measured.ratio),
      goalText(result, measured.contender)
    ])
  )
  const lines = [["what", "who", "median", "middle half", "ratio", "goal"], ...rows]
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const shown = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [shown[0], rule, ...shown.slice(1)].join("\n")
}

/** What the figures were taken on: kind of machine and how busy it was, nothing that names it. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  load: loadavg().map((value) => Number(value.toFixed(2)))
})

/** A line chart of ratios over sizes, one line a contender, as SVG. Undefined with fewer than two sizes. */
export const plotOf = (group: string, name: string, results: ReadonlyArray<Result>): string | undefined => {
  const sized = results
    .filter((result) => result.size !== undefined)
    .toSorted((a, b) => (a.size?.value ?? 0) - (b.size?.value ?? 0))
  if (sized.length < 2) return undefined
  const [width, height, left, bottom] = [720, 360, 70, 50]
  const contenders = [...new Set(sized.flatMap(({ measured }) => measured.map(({ contender }) => contender)))]
  const all = sized.flatMap(({ measured }) => measured.map(({ median }) => median))
  const [low, high] = [Math.log10(Math.min(...all)), Math.log10(Math.max(...all))]
  const x = (index: number): number => left + (index * (width - left - 170)) / (sized.length - 1)
  const y = (time: number): number =>
    height - bottom - ((Math.log10(time) - low) / Math.max(0.1, high - low)) * (height - bottom - 40)
  const colours = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888"]
  const lines = contenders.map((contender, index) => {
    const points = sized.flatMap(({ measured }, at) => {
      const found = measured.find((one) => one.contender === contender)
      return found === undefined ? [] : [`${x(at).toFixed(1)},${y(found.median).toFixed(1)}`]
    })
    const colour = colours[index % colours.length]
    const labelY = 40 + index * 18
    return [
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(" ")}"/>`,
      `<text x="${width - 155}" y="${labelY}" fill="${colour}">${escape(contender)}</text>`
    ].join("")
  })
  const ticks = sized.map(
    ({ size }, at) => `<text x="${x(at)}" y="${height - 25}" text-anchor="middle">${escape(size?.label ?? "")}</text>`
  )
  const times = [10 ** low, 10 ** ((low + high) / 2), 10 ** high].map(
    (time) => `<text x="${left - 8}" y="${y(time) + 4}" text-anchor="end">${timeText(time)}</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${left}" y="20" font-size="14">${escape(`${group}: ${name} (logarithmic)`)}</text>`,
    ...lines,
    ...ticks,
    ...times,
    "</svg>"
  ].join("\n")
}

const timeText = (nanoseconds: number): string => {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(0)} ns`
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(1)} µs`
  return nanoseconds < 1e9 ? `${(nanoseconds / 1e6).toFixed(2)} ms` : `${(nanoseconds / 1e9).toFixed(2)} s`
}

const ratioText = (ratio: number): string => (ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2))

const goalText = ({ goal, met }: Result, contender: string): string =>
  goal?.contender === contender ? `≤ ${goal.atMost} ${met === true ? "met" : "MISSED"}` : ""

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
