import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { format } from "oxfmt"

import type { Measured, Result } from "./benchmark.ts"
import { plotsOf } from "./plot.ts"
import { figureText, type machine, missesOf, tableOf, titleOf } from "./report.ts"

const root = join(import.meta.dirname, "../..")
const [start, end] = ["<!-- results:start -->", "<!-- results:end -->"]

/** The rows of the one-screen table: what users ask, the title of the benchmark, and the contender of haft. */
const questions: ReadonlyArray<readonly [question: string, title: string, ours?: string]> = [
  ["First call from the shell", "start: a process of its own", "haft call read_file"],
  ["MCP: start to the tool list", "mcp: start, to the list of tools"],
  ["MCP: read of 1 KB, 1 in flight", "mcp: read of 1 KB, 1 in flight"],
  ["MCP: read of 1 KB, 16 in flight", "mcp: read of 1 KB, 16 in flight"],
  ["MCP: read of 100 KB, 16 in flight", "mcp: read of 100 KB, 16 in flight"],
  ["HTTP: small read, 64 in flight", "http: a small read, 64 in flight"],
  ["Edit of one line in 50 MB", "edit: one line of 50 MB"],
  ["Patch: 1 hunk, durable", "patch: 1 hunks in 1 files, durable"],
  ["Patch: 1,000 hunks in 200 files, durable", "patch: 1000 hunks in 200 files, durable"],
  ["Search: a rare text in 80,000 files", "search: a rare text, 78,621 files"],
  ["Search over MCP, 80,000 files", "search: over MCP, a rare text, 78,621 files"],
  ["Find files in 80,000", "find-files: files that match **/*.h, 78,621 files"],
  ["List: first 1,000 of 80,000", "list: first 1,000 files in order, 78,621 files"],
  ["Command, no sandbox", "commands: echo, host with 300 MB more", "haft, no sandbox"],
  ["Command, sandboxed", "commands: echo, host with 300 MB more", "haft, bubblewrap with everything"],
  ["Command that changes a file, on an overlay", "overlay: change one file, 80000 files in the workspace"],
  ["Proxied request", "network: request on a new connection"],
  ["Memory: idle MCP server", "mcp: memory at rest"],
  ["Memory after 10,000 reads of 60 KB", "memory: after reads of 60 KB, 10,000 calls"]
]

export interface Run {
  readonly machine: ReturnType<typeof machine> & { readonly loadAfter: number }
  readonly results: ReadonlyArray<Result>
}

/** Writes one screen into `docs/benchmarks.md`, all tables to `bench/results.md`, and plots to the images of the docs. */
export const writeDocs = async ({ machine, results }: Run): Promise<void> => {
  const images = join(root, "docs/images/benchmarks")
  rmSync(images, { recursive: true, force: true })
  mkdirSync(images, { recursive: true })
  const plots = plotsOf(results)
  for (const [file, plot] of plots) writeFileSync(join(images, file), plot)
  const { date, node, platform, cores, memoryGiB, load, loadAfter } = machine
  const taken = `Taken on ${date}: Node ${node} on ${platform}, ${cores} cores, ${memoryGiB} GiB of memory; load ${load} before the run, ${loadAfter} after it.`
  const missed = missesOf(results)
  const page = join(root, "docs/benchmarks.md")
  const text = readFileSync(page, "utf8")
  const screen = [
    start,
    taken,
    screenOf(results),
    ...(plots.has("goals.svg") ? ["![Goals, and how far each was met](images/benchmarks/goals.svg)"] : []),
    "## Missed goals",
    missed.length === 0 ? "None." : missed.map((miss) => `- ${miss}`).join("\n"),
    end
  ].join("\n\n")
  await write(page, text.slice(0, text.indexOf(start)) + screen + text.slice(text.indexOf(end) + end.length))
  await write(
    join(root, "bench/results.md"),
    ["# All results", "<!-- Made by `npm run bench -- --docs`. -->", taken, ...groupsOf(results)].join("\n\n")
  )
}

/** One row a question: haft, the best peer and the limit, each with its ratio to haft. */
const screenOf = (results: ReadonlyArray<Result>): string => {
  const byTitle = new Map(results.map((result) => [titleOf(result), result]))
  const rows = questions.flatMap(([question, title, ours]) => {
    const result = byTitle.get(title)
    const haft = result?.measured.find(({ kind, contender }) => kind === "haft" && contender === (ours ?? contender))
    if (result === undefined || haft === undefined) return []
    const best = (kind: Measured["kind"]): string => {
      const [one] = result.measured.filter((other) => other.kind === kind).toSorted((a, b) => a.median - b.median)
      if (one === undefined) return ""
      const name = one.version === undefined ? one.contender : `${one.contender} ${one.version}`
      return `${figureText(one.median, result)} (${(haft.median / one.median).toFixed(2)} ×), ${name}`
    }
    return [`| ${[question, figureText(haft.median, result), best("peer"), best("limit")].join(" | ")} |`]
  })
  return [
    "| what | haft | best peer (haft takes …) | limit (haft takes …) |",
    "| --- | --- | --- | --- |",
    ...rows
  ].join("\n")
}

const groupsOf = (results: ReadonlyArray<Result>): ReadonlyArray<string> =>
  [...Map.groupBy(results, ({ group }) => group)].map(([group, ofGroup]) =>
    [
      `## ${group}`,
      tableOf(ofGroup.map((result) => ({ ...result, group: "" }))).replaceAll("| : ", "| "),
      ...[...plotsOf(ofGroup).keys()]
        .filter((file) => file !== "goals.svg")
        .map((file) => `![${file.replace(".svg", "")}](../docs/images/benchmarks/${file})`)
    ].join("\n\n")
  )

const write = async (file: string, text: string): Promise<void> => {
  const formatting = { printWidth: 120, semi: false, trailingComma: "none" } as const
  writeFileSync(file, (await format(file, text, formatting)).code)
}
