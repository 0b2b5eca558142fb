// npm run bench -- [filter …]: every group whose name contains a filter, or all.
//   --quick   small sizes, few rounds, nothing fetched
//   --check   fail when one of our ratios has doubled against bench/recorded.json; --record writes that file
//   --docs    write docs/benchmarks.md, bench/results.md and the plots
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import { isMissed, type Result, type Setting } from "./benchmark.ts"
import { writeDocs } from "./docs.ts"
import type { Order, Told } from "./measure-group.ts"
import { plotsOf } from "./plot.ts"
import { writeRecorded } from "./recorded.ts"
import { machine, missesOf, tableOf } from "./report.ts"

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
const before = machine()

const files = readdirSync(join(import.meta.dirname, "groups"))
  .filter((file) => file.endsWith(".ts"))
  .filter((file) => positionals.length === 0 || positionals.some((filter) => file.includes(filter)))
  .toSorted()

const results: Array<Result> = []
const problems: Array<string> = []

const measureGroup = async (file: string): Promise<void> => {
  const order: Order = { file, setting, check: values.check }
  const group = fork(join(import.meta.dirname, "measure-group.ts"), [JSON.stringify(order)])
  group.on("message", (told: Told) => {
    if ("problem" in told) return problems.push(told.problem)
    results.push(told.result)
    return process.stdout.write(`${tableOf([told.result])}\n\n`)
  })
  const [code, signal] = (await once(group, "exit")) as [number | null, NodeJS.Signals | null]
  if (code !== 0) problems.push(`${file}: its process ended with ${code ?? signal}`)
}

for (const file of files) await measureGroup(file)

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
