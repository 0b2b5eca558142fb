import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { format } from "oxfmt"

import type { Result } from "./benchmark.ts"
import { plotsOf } from "./plot.ts"
import { type machine, missesOf, tableOf } from "./report.ts"

const docs = join(import.meta.dirname, "../../docs")
const [start, end] = ["<!-- results:start -->", "<!-- results:end -->"]

export interface Run {
  readonly machine: ReturnType<typeof machine> & { readonly loadAfter: number }
  readonly results: ReadonlyArray<Result>
}

/** Writes the tables of a run into `docs/benchmarks.md`, and its plots to the images of the docs. */
export const writeDocs = async ({ machine, results }: Run): Promise<void> => {
  const images = join(docs, "images/benchmarks")
  rmSync(images, { recursive: true, force: true })
  mkdirSync(images, { recursive: true })
  const plots = plotsOf(results)
  for (const [file, plot] of plots) writeFileSync(join(images, file), plot)
  const show = (file: string): string => `![${file.replace(".svg", "")}](images/benchmarks/${file})`
  const missed = missesOf(results)
  const groups = [...Map.groupBy(results, ({ group }) => group)].map(([group, ofGroup]) =>
    [
      `### ${group}`,
      tableOf(ofGroup.map((result) => ({ ...result, group: "" }))).replaceAll("| : ", "| "),
      ...[...plotsOf(ofGroup).keys()].filter((file) => file !== "goals.svg").map(show)
    ].join("\n\n")
  )
  const { date, node, platform, cores, memoryGiB, load, loadAfter } = machine
  const page = [
    start,
    `Taken on ${date}: Node ${node} on ${platform}, ${cores} cores, ${memoryGiB} GiB of memory; load ${load} before the run, ${loadAfter} after it.`,
    "## Goals",
    ...(plots.has("goals.svg") ? [show("goals.svg")] : []),
    missed.length === 0 ? "All met." : `Missed:\n\n${missed.map((miss) => `- ${miss}`).join("\n")}`,
    "## Results",
    ...groups,
    end
  ].join("\n\n")
  const file = join(docs, "benchmarks.md")
  const text = readFileSync(file, "utf8")
  const put = text.slice(0, text.indexOf(start)) + page + text.slice(text.indexOf(end) + end.length)
  const formatting = { printWidth: 120, semi: false, trailingComma: "none" } as const
  writeFileSync(file, (await format(file, put, formatting)).code)
}
