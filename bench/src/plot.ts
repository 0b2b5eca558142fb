import { isMissed, type Result } from "./benchmark.ts"
import { figureText, titleOf } from "./report.ts"

const colors = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888"]

/** A plot for every job that was measured at several sizes, with a line for each contender; by file name. */
export const plotsOf = (results: ReadonlyArray<Result>): ReadonlyMap<string, string> => {
  const jobs = Map.groupBy(results, ({ group, name }) => `${group}-${name}`.replaceAll(/\W+/g, "-"))
  const plots = [...jobs].flatMap(([name, sizes]) =>
    sizes.length < 2 ? [] : [[`${name}.svg`, curveOf(sizes)] as const]
  )
  return new Map([...(goalsOf(results).length > 0 ? [["goals.svg", goalsPlot(results)] as const] : []), ...plots])
}

const curveOf = (results: ReadonlyArray<Result>): string => {
  const sized = results.toSorted((one, other) => (one.size?.value ?? 0) - (other.size?.value ?? 0))
  const [first] = sized
  const [width, height, left, right, bottom] = [860, 360, 80, 300, 50]
  const contenders = [...new Set(sized.flatMap(({ measured }) => measured.map(({ contender }) => contender)))]
  const all = sized.flatMap(({ measured }) => measured.map(({ median }) => median))
  const [low, high] = [Math.log10(Math.min(...all)), Math.log10(Math.max(...all))]
  const x = (index: number): number => left + (index * (width - left - right)) / (sized.length - 1)
  const y = (figure: number): number =>
    height - bottom - ((Math.log10(figure) - low) / Math.max(0.1, high - low)) * (height - bottom - 40)
  const lines = contenders.flatMap((contender, index) => {
    const color = colors[index % colors.length] ?? "black"
    const points = sized.flatMap(({ measured }, at) => {
      const found = measured.find((one) => one.contender === contender)
      return found === undefined ? [] : [{ x: x(at), y: y(found.median) }]
    })
    const isOurs = contender.startsWith("haft")
    const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")
    const dots = points.map(({ x, y }) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${color}"/>`)
    return [
      `<polyline fill="none" stroke="${color}" stroke-width="${isOurs ? 3 : 1.5}" points="${path}"/>`,
      dots.join(""),
      text({ x: width - right + 20, y: 40 + index * 18, fill: color }, contender)
    ]
  })
  const ticks = sized.map(({ size }, at) => text({ x: x(at), y: height - 25, anchor: "middle" }, size?.label ?? ""))
  const figures = [10 ** low, 10 ** ((low + high) / 2), 10 ** high].map((figure) =>
    text({ x: left - 8, y: y(figure) + 4, anchor: "end" }, figureText(figure, first ?? { measures: "time" }))
  )
  const title = text({ x: left, y: 20 }, `${first?.group}: ${first?.name} (logarithmic)`)
  return svg(width, height, [title, ...lines, ...ticks, ...figures])
}

interface Goal {
  readonly label: string
  /** How much of the goal is used up; 1 is the goal. */
  readonly share: number
  readonly isMissed: boolean
}

const goalsOf = (results: ReadonlyArray<Result>): ReadonlyArray<Goal> =>
  results.flatMap((result) =>
    result.measured.flatMap((measured) => {
      const { atMost, within, ratio, median, contender } = measured
      const share = atMost === undefined ? median / (within ?? Number.NaN) : ratio / atMost
      const label = `${titleOf(result)}${contender === "haft" ? "" : ` (${contender.replace(/^haft,? /, "")})`}`
      return Number.isNaN(share) ? [] : [{ label, share, isMissed: isMissed(measured) }]
    })
  )

/** A bar for each goal, which shows how much of it is used up. A bar that ends before the line meets its goal. */
const goalsPlot = (results: ReadonlyArray<Result>): string => {
  const goals = goalsOf(results)
  const [width, left, row] = [900, 470, 18]
  const height = 50 + goals.length * row
  const scale = (width - left - 20) / 2
  const bars = goals.flatMap(({ label, share, isMissed }, index) => {
    const y = 40 + index * row
    const shown = Math.min(share, 2) * scale
    const figure = share < 0.1 ? share.toFixed(3) : share.toFixed(2)
    return [
      text({ x: left - 8, y: y + 9, anchor: "end" }, label),
      `<rect x="${left}" y="${y}" width="${Math.max(1, shown).toFixed(1)}" height="11" fill="${isMissed ? "#ee6677" : "#4477aa"}"/>`,
      text({ x: left + Math.min(shown, 1.75 * scale) + 4, y: y + 9 }, figure)
    ]
  })
  const line = `<line x1="${left + scale}" y1="30" x2="${left + scale}" y2="${height - 8}" stroke="black" stroke-dasharray="3 3"/>`
  return svg(width, height, [text({ x: 8, y: 20 }, "Each goal is 1; shorter is better"), ...bars, line])
}

interface Place {
  readonly x: number
  readonly y: number
  readonly anchor?: "middle" | "end"
  readonly fill?: string
}

const text = ({ x, y, anchor, fill = "black" }: Place, content: string): string => {
  const anchored = anchor === undefined ? "" : ` text-anchor="${anchor}"`
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${fill}"${anchored}>${escaped}</text>`
}

const svg = (width: number, height: number, content: ReadonlyArray<string>): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    ...content,
    "</svg>",
    ""
  ].join("\n")
