// Measures the code index on generated files: time and size of a build, query latency, and the time after one change.
//   node --conditions=@haft/source src/code-search/generated.ts 10000
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { CodeIndex, Workspace } from "@haft/core"
import { nodeWorkspace, sqliteCodeIndex } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const count = Number(process.argv[2] ?? 1000)
const nouns =
  "order user cart price invoice session token cache queue worker file path parser lexer node graph edge socket".split(
    " "
  )
const verbs = "read write parse format send receive load store merge split open close start stop check build".split(" ")

let state = 1
const oneOf = (words: ReadonlyArray<string>): string => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return words[Math.floor((state / 2 ** 32) * words.length)] ?? ""
}
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const functionText = (file: number): string => {
  const [verb, one, other] = [oneOf(verbs), oneOf(nouns), oneOf(nouns)]
  return [
    `/** ${capital(verb)}s the ${one} of a ${other}. */`,
    `export function ${verb}${capital(one)}${capital(other)}${file}(${one}: string, count: number): string {`,
    `  const result = ${one}.repeat(count)`,
    `  if (result.length > 1000) throw new Error("${one} too long for ${other}")`,
    "  return result",
    "}",
    ""
  ].join("\n")
}

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

const median = (times: ReadonlyArray<number>): string =>
  (times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0).toFixed(1)

const base = mkdtempSync(join(tmpdir(), "haft-code-index-"))
const root = join(base, "workspace")
for (let file = 0; file < count; file++) {
  const directory = join(root, `m${file % 100}`)
  if (file < 100) mkdirSync(directory, { recursive: true })
  writeFileSync(
    join(directory, `${oneOf(nouns)}-${file}.ts`),
    Array.from({ length: 6 }, () => functionText(file)).join("\n")
  )
}

const measure = Effect.gen(function* () {
  const index = yield* CodeIndex
  const workspace = yield* Workspace
  const build = process.cpuUsage()
  yield* index.outline({ path: ".", limit: 1 })
  const seconds = cpuMs(build) / 1000
  const { bytes } = yield* index.status
  const [size, rss] = [bytes, process.memoryUsage.rss()].map((value) => (value / 2 ** 20).toFixed(1))
  console.log(`${count} files: index ${seconds.toFixed(1)} s CPU, ${size} MiB, RSS ${rss} MiB`)

  const queries: Array<number> = []
  for (let n = 0; n < 60; n++) {
    const query = `${oneOf(verbs)} the ${oneOf(nouns)} of a ${oneOf(nouns)}`
    const begin = process.cpuUsage()
    yield* index.search({ query, path: ".", limit: 10 })
    queries.push(cpuMs(begin))
  }
  const changes: Array<number> = []
  for (let n = 0; n < 15; n++) {
    const content = new TextEncoder().encode(`export function changed${n}() {}\n`)
    yield* workspace.commit([{ kind: "write", path: "m1/changed.ts", content }])
    const begin = process.cpuUsage()
    yield* index.definitions({ name: `changed${n}`, path: ".", limit: 1 })
    changes.push(cpuMs(begin))
  }
  console.log(`  query p50 ${median(queries)} ms CPU; one changed file p50 ${median(changes)} ms CPU`)
  requireAtMost("seconds of CPU for the index", seconds, 5 + (count * 300) / 80_000)
  requireAtMost("MiB of memory", Number(rss), 400)
  requireAtMost("ms of CPU for a query", Number(median(queries)), 150)
  requireAtMost("ms of CPU for one changed file", Number(median(changes)), 20)
})

/** Limits that only a defect exceeds; the figures themselves vary with the machine. */
const requireAtMost = (what: string, figure: number, most: number): void => {
  if (figure <= most) return
  process.exitCode = 1
  console.log(`  too many ${what}: ${figure.toFixed(1)}, the limit is ${most}`)
}

const stateDirectory = join(base, "state")
const services = sqliteCodeIndex({ directory: stateDirectory, buildTimeMs: 1e9 }).pipe(
  Layer.provideMerge(nodeWorkspace({ root, state: stateDirectory, durable: false }))
)
try {
  await Effect.runPromise(Effect.scoped(measure.pipe(Effect.provide(services))))
} finally {
  rmSync(base, { recursive: true, force: true })
}
