// npm run robustness -- [class …]: damaged patches and edits, and how often they are made right, refused or made wrong.
//   --repository PATH   the repository whose commits are damaged, by default this one
//   --revision NAME     the commit whose history is used, by default HEAD
//   --cases N           cases for each class, by default 40
//   --seed TEXT         another seed takes other commits and damages them differently
//   --series NAME       unified, envelope or edit; may be given several times
//   --show NAME         one case in full, by the name in the list of wrong results, such as unified/ellipsis/7
//   --quick             fetches no peers
//   --check             fails if haft misses a goal
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"

import { resolveRevision, type Sample, samplesOf } from "./corpus.ts"
import { goalsOf, tableOf, wrongCases } from "./report.ts"
import { allSeries, type SeriesOptions, type SeriesResult } from "./series.ts"
import { showCase } from "./show.ts"

const bench = join(import.meta.dirname, "../..")
const here = join(bench, "..")
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repository: { type: "string", default: here },
    revision: { type: "string", default: "HEAD" },
    cases: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    series: { type: "string", multiple: true, default: allSeries.map(({ name }) => name) },
    show: { type: "string" },
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false }
  }
})

/** Reads samples when they are first wanted, and keeps them for the next class. */
const kept = (samples: Iterator<Sample>): Iterable<Sample> => {
  const read: Array<Sample> = []
  return {
    *[Symbol.iterator]() {
      for (let at = 0; ; at++) {
        if (at === read.length) {
          const { done = false, value } = samples.next() as IteratorResult<Sample, undefined>
          if (done || value === undefined) return
          read.push(value)
        }
        const sample = read[at]
        if (sample !== undefined) yield sample
      }
    }
  }
}

const repository = resolve(values.repository)
const revision = resolveRevision(repository, values.revision)
const options: SeriesOptions = {
  samples: kept(samplesOf({ repository, revision, seed: values.seed })),
  seed: values.seed,
  cases: Number(values.cases),
  home: values.quick ? undefined : join(bench, ".home")
}

const show = async (name: string): Promise<number> => {
  const [series, className = "", number] = name.split("/")
  const found = await allSeries.find((one) => one.name === series)?.show(options, className, Number(number))
  process.stdout.write(found === undefined ? `no case ${name}\n` : `${showCase(found)}\n`)
  return found === undefined ? 1 : 0
}

const runAll = async (): Promise<number> => {
  process.stdout.write(`seed ${values.seed}, revision ${revision}, up to ${options.cases} cases a class\n\n`)
  const results: Array<SeriesResult> = []
  for (const series of allSeries.filter(({ name }) => values.series.includes(name))) {
    const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name)
    const result = await series.run(options, isWanted)
    results.push(result)
    process.stdout.write(`${tableOf(result)}\n\n`)
  }
  const wrong = results.flatMap(wrongCases)
  const goals = goalsOf(results)
  const repeat = [
    ...(values.repository === here ? [] : ["--repository", values.repository]),
    ...(values.quick ? ["--quick"] : []),
    "--revision",
    revision,
    "--seed",
    values.seed,
    "--show"
  ].join(" ")
  const lines = [
    ...(wrong.length === 0
      ? []
      : [`haft is wrong in these cases. See one with: npm run robustness -- ${repeat} ${wrong[0]?.split(" ")[0]}`]),
    ...wrong,
    ...goals.map(({ text, isMet }) => `${isMet ? "met   " : "missed"} ${text}`)
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
  mkdirSync(join(bench, "results"), { recursive: true })
  writeFileSync(join(bench, "results/robustness.md"), `${[...results.map(tableOf), lines.join("\n")].join("\n\n")}\n`)
  return values.check && goals.some(({ isMet }) => !isMet) ? 1 : 0
}

process.exit(values.show === undefined ? await runAll() : await show(values.show))
