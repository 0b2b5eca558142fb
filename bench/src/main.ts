// npm run bench -- [filter …] [--quick]: every group whose name contains a filter, or all.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"

import { type Group, measure, type Result } from "./benchmark.ts"
import { machine, plotOf, tableOf } from "./report.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } }
})
const home = join(import.meta.dirname, "..", ".home")
const output = join(import.meta.dirname, "..", "results")
for (const directory of [home, output]) mkdirSync(directory, { recursive: true })
const setting = { quick: values.quick, home }

const groups = readdirSync(join(import.meta.dirname, "groups"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .filter((file) => positionals.length === 0 || positionals.some((filter) => file.includes(filter)))
  .toSorted()

const results: Array<Result> = []
for (const file of groups) {
  const { benchmarks } = (await import(`./groups/${file}`)) as { readonly benchmarks: Group }
  for await (const benchmark of benchmarks(setting)) {
    try {
      const result = await measure(benchmark, setting)
      results.push(result)
      process.stdout.write(`${tableOf([result])}\n\n`)
    } finally {
      await benchmark.close?.()
    }
  }
}

const named = values.quick ? "quick" : positionals.length === 0 ? "all" : positionals.join("-")
writeFileSync(join(output, `${named}.json`), `${JSON.stringify({ machine: machine(), results }, null, 2)}\n`)
writeFileSync(join(output, `${named}.md`), `${tableOf(results)}\n`)
for (const title of new Set(results.map(({ group, name }) => `${group}\n${name}`))) {
  const [group = "", name = ""] = title.split("\n")
  const plot = plotOf(
    group,
    name,
    results.filter((result) => result.group === group && result.name === name)
  )
  if (plot !== undefined) writeFileSync(join(output, `${basename(group)}-${name.replaceAll(/\W+/g, "-")}.svg`), plot)
}
const missed = results.filter(({ met }) => met === false)
process.stdout.write(`${JSON.stringify(machine())}\n${results.length} benchmarks, ${missed.length} goals missed\n`)
