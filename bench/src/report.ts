import { cpus, loadavg, totalmem } from "node:os"

import { isMissed, type Measured, type Result } from "./benchmark.ts"

/** The title of a result, by which it is recorded and looked up. */
export const titleOf = ({ group, name, size }: Pick<Result, "group" | "name" | "size">): string =>
  `${group}: ${name}${size === undefined ? "" : `, ${size.label}`}`

/** The results as a table that reads well in a terminal and in Markdown. */
export const tableOf = (results: ReadonlyArray<Result>): string => {
  const rows = results.flatMap((result) => [
    ...result.measured.map((measured) => [
      titleOf(result),
      measured.version === undefined ? measured.contender : `${measured.contender} ${measured.version}`,
      figureText(measured.median, result),
      `${figureText(measured.lowerQuartile, result)} – ${figureText(measured.upperQuartile, result)}`,
      measured.contender === result.floor ? "1" : ratioText(measured.ratio),
      goalText(measured, result)
    ]),
    ...result.absent.map(({ name, reason }) => [titleOf(result), name, "–", reason, "–", ""])
  ])
  const lines = [["what", "who", "median", "middle half", "ratio", "goal"], ...rows]
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const shown = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`
  return [shown[0], rule, ...shown.slice(1)].join("\n")
}

/** The goals that were missed, each with the reason. */
export const missesOf = (results: ReadonlyArray<Result>): ReadonlyArray<string> =>
  results.flatMap((result) =>
    result.measured
      .filter(isMissed)
      .map(
        (measured) =>
          `${titleOf(result)}: ${measured.contender} takes ${shareText(measured, result)}. ${result.ifMissed ?? "Not explained yet."}`
      )
  )

/** The machine on which the figures were measured, without anything that identifies it, and how busy it was. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  /** The load average of the last minute. */
  load: Number((loadavg()[0] ?? 0).toFixed(2))
})

export const figureText = (figure: number, { measures }: Pick<Result, "measures">): string => {
  if (measures === "bytes") return `${(figure / 2 ** 20).toFixed(1)} MiB`
  if (figure < 1e3) return `${figure.toFixed(0)} ns`
  if (figure < 1e6) return `${(figure / 1e3).toFixed(1)} µs`
  return figure < 1e9 ? `${(figure / 1e6).toFixed(2)} ms` : `${(figure / 1e9).toFixed(2)} s`
}

const ratioText = (ratio: number): string => (ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2))

const shareText = ({ atMost, within, ratio, median }: Measured, result: Result): string =>
  atMost === undefined
    ? `${figureText(median, result)}, the goal is ${figureText(within ?? 0, result)}`
    : `${ratioText(ratio)} of ${result.floor}, the goal is ${atMost}`

const goalText = (measured: Measured, result: Result): string => {
  const { atMost, within } = measured
  if (atMost === undefined && within === undefined) return ""
  const goal = atMost ?? figureText(within ?? 0, result)
  return `≤ ${goal} ${isMissed(measured) ? "MISSED" : "met"}`
}
