// npm run bench -- [filter …]: every group whose name contains a filter, or all.
//   --quick   small sizes, few rounds, nothing fetched
//   --check   fail when one of our ratios has doubled against bench/recorded.json; --record writes that file
//   --docs    put tables and plots into docs/benchmarks.md
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import { type Benchmark, type Group, isMissed, measure, type Result, type Setting } from "./benchmark.ts"
import { writeDocs } from "./docs.ts"
import { plotsOf } from "./plot.ts"
import { doubledIn, readRecorded, writeRecorded } from "./recorded.ts"
import { machine, missesOf, tableOf, titleOf } from "./report.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    docs: { type: "boolean", default: false }
  }
})
if (values.docs && positionals.length > 0) throw new Error("--docs is about all groups: leave out the filter")
const home = join(import.meta.dirname, "..", ".home")
const output = join(import.meta.dirname, "..", "results")
for (const directory of [home, output]) mkdirSync(directory, { recursive: true })
const setting: Setting = { quick: values.quick, home }
const recorded = values.check ? readRecorded() : {}
const before = machine()

const files = readdirSync(join(import.meta.dirname, "groups"))
  .filter((file) => file.endsWith(".ts"))
  .filter((file) => positionals.length === 0 || positionals.some((filter) => file.includes(filter)))
  .toSorted()

const results: Array<Result> = []
const problems: Array<string> = []

/** A ratio that has doubled is measured again: a moment's load on the machine must not fail a change. */
const measureFairly = async (benchmark: Benchmark): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    const result = await measure(benchmark, setting)
    const doubled = doubledIn(result, recorded)
    if (doubled.length > 0 && tries < 3) continue
    problems.push(...doubled)
    return result
  }
}

for (const file of files) {
  const { benchmarks } = (await import(`./groups/${file}`)) as { readonly benchmarks: Group }
  try {
    for await (const benchmark of benchmarks(setting)) {
      try {
        const result = await measureFairly(benchmark)
        results.push(result)
        process.stdout.write(`${tableOf([result])}\n\n`)
      } catch (error) {
        problems.push(`${titleOf(benchmark)}: ${String(error)}`)
      } finally {
        await benchmark.close?.()
      }
    }
  } catch (error) {
    problems.push(`${file}: ${String(error)}`)
  }
}

const after = machine()
const run = { machine: { ...before, loadAfter: after.load }, results }
const name = values.quick ? "quick" : positionals.length === 0 ? "all" : positionals.join("-")
writeFileSync(join(output, `${name}.json`), `${JSON.stringify(run, null, 2)}\n`)
writeFileSync(join(output, `${name}.md`), `${tableOf(results)}\n`)
for (const [file, plot] of plotsOf(results)) writeFileSync(join(output, file), plot)
if (values.record) writeRecorded(results)
if (values.docs) await writeDocs(run)
const goals = results.flatMap(({ measured }) => measured).filter((one) => (one.atMost ?? one.within) !== undefined)
const summary = `${results.length} benchmarks, ${goals.length} goals, ${goals.filter(isMissed).length} missed`
process.stdout.write([JSON.stringify(run.machine), ...missesOf(results), summary, ...problems, ""].join("\n"))
process.exit(problems.length === 0 ? 0 : 1)
