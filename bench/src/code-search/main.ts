// Measures how well `search_code` finds files in a repository, beside counting words as ripgrep would and plain BM25:
//   node --conditions=@haft/source src/code-search/main.ts --repository DIR [--cases 200]
// Queries are made from the repository: the first sentence of a docstring asks for its file, with all docstrings removed
// from the corpus, and the subject of a commit for the files it changed.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"

import { CodeIndex } from "@haft/core"
import { nodeWorkspace, sqliteCodeIndex } from "@haft/node"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

interface Query {
  readonly text: string
  readonly wanted: ReadonlyArray<string>
}

type Search = (query: string) => Promise<ReadonlyArray<string>> | ReadonlyArray<string>

const { values } = parseArgs({
  options: { repository: { type: "string", default: "." }, cases: { type: "string", default: "200" } }
})
const repository = resolve(values.repository)
const cases = Number(values.cases)
const source = /\.(?:py|[cm]?[jt]sx?|go|rs|java|rb|php|cs|cc?|cpp|h)$/

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", maxBuffer: 2 ** 30 })

/** Texts between the quotes or stars of a docstring. */
const docstring = /(?:^|\n)[ \t]*(?:"""([\s\S]*?)"""|\/\*\*([\s\S]*?)\*\/)/g

const firstSentence = (doc: string): string =>
  (
    doc
      .replaceAll(/^\s*\*/gm, " ")
      .replaceAll(/\s+/g, " ")
      .trim()
      .split(/\.(?:\s|$)|\s@|:param|\s\s/u)[0] ?? ""
  ).trim()

/** The first of every so many, so that the queries come from all over the repository. */
const spread = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<A> => {
  const step = Math.max(1, items.length / most)
  return Array.from({ length: Math.min(most, items.length) }, (_, n) => items[Math.floor(n * step)] as A)
}

const filesBelow = (root: string): ReadonlyArray<string> =>
  readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(root, path)).isFile())

const checkOut = (root: string): void => {
  mkdirSync(root)
  const archive = execFileSync("git", ["-C", repository, "archive", "HEAD"], { maxBuffer: 2 ** 30 })
  execFileSync("tar", ["-x", "-C", root], { input: archive })
}

/** Removes all docstrings from the sources of a corpus, and makes queries of them. */
const docQueries = (root: string): ReadonlyArray<Query> => {
  const queries = new Map<string, Query>()
  for (const path of filesBelow(root).filter((file) => source.test(file))) {
    const text = readFileSync(join(root, path), "utf8")
    for (const [, python, star] of text.matchAll(docstring)) {
      const sentence = firstSentence(python ?? star ?? "")
      const isTest = /test|example|docs\//.test(path)
      if (!isTest && /^[A-Z][^@<>{}=]*$/.test(sentence) && sentence.split(" ").length >= 5 && sentence.length < 200) {
        queries.set(sentence, { text: sentence, wanted: [path] })
      }
    }
    writeFileSync(join(root, path), text.replaceAll(docstring, "\n"))
  }
  return spread([...queries.values()], cases)
}

const commitQueries = (root: string): ReadonlyArray<Query> => {
  const present = new Set(filesBelow(root))
  const log = git("log", "--no-merges", "-n", "3000", "--name-only", "--format=%x00%s")
  const queries = log.split("\0").flatMap((entry): ReadonlyArray<Query> => {
    const [subject = "", ...changed] = entry.split("\n").filter((line) => line !== "")
    const wanted = changed.filter((path) => source.test(path) && present.has(path))
    const text = subject.replace(/\s*\(?#\d+\)?/g, "").replace(/^\w+(?:\([^)]*\))?!?:\s*/, "")
    const isUseful = wanted.length >= 1 && wanted.length <= 5 && changed.length <= 8 && text.split(" ").length >= 4
    return isUseful && !/^(?:Bump|Release|Merge|Revert)|version/i.test(text) ? [{ text, wanted }] : []
  })
  return spread(queries, cases)
}

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[a-z_]\w+/g) ?? []

/** Files with the most words of the query: what somebody gets who looks for each word with ripgrep. */
const byWords =
  (corpus: ReadonlyMap<string, string>): Search =>
  (query) => {
    const words = [...new Set(wordsOf(query))].filter((word) => word.length > 3)
    return [...corpus]
      .map(([path, text]) => ({ path, score: words.filter((word) => text.includes(word)).length }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .map(({ path }) => path)
  }

const byBm25 = (corpus: ReadonlyMap<string, string>): Search => {
  const files = [...corpus].map(([path, text]) => {
    const words = wordsOf(text)
    const counts = new Map<string, number>()
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    return { path, counts, length: words.length }
  })
  const average = files.reduce((sum, { length }) => sum + length, 0) / files.length
  const idf = (word: string): number => {
    const having = files.filter(({ counts }) => counts.has(word)).length
    return Math.log(1 + (files.length - having + 0.5) / (having + 0.5))
  }
  return (query) => {
    const words = [...new Set(wordsOf(query))].map((word) => [word, idf(word)] as const)
    const scoreOf = ({ counts, length }: (typeof files)[number]): number =>
      words.reduce((sum, [word, weight]) => {
        const count = counts.get(word) ?? 0
        return sum + (weight * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average))
      }, 0)
    return files
      .map((file) => ({ path: file.path, score: scoreOf(file) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .map(({ path }) => path)
  }
}

const judge = async (queries: ReadonlyArray<Query>, search: Search): Promise<string> => {
  const sums = { at5: 0, at10: 0, reciprocal: 0 }
  for (const { text, wanted } of queries) {
    const found = await search(text)
    const recall = (most: number): number =>
      found.slice(0, most).filter((path) => wanted.includes(path)).length / Math.min(wanted.length, most)
    const rank = found.slice(0, 10).findIndex((path) => wanted.includes(path))
    sums.at5 += recall(5)
    sums.at10 += recall(10)
    sums.reciprocal += rank === -1 ? 0 : 1 / (rank + 1)
  }
  const shown = (sum: number): string => (sum / queries.length).toFixed(2)
  return `recall@5 ${shown(sums.at5)}  recall@10 ${shown(sums.at10)}  MRR ${shown(sums.reciprocal)}`
}

const measure = async (name: string, root: string, queries: ReadonlyArray<Query>): Promise<void> => {
  const state = `${root}-state`
  const services = sqliteCodeIndex({ directory: state, buildTimeMs: 1e9 }).pipe(
    Layer.provideMerge(nodeWorkspace({ root, state }))
  )
  const runtime = ManagedRuntime.make(services)
  const index = await runtime.runPromise(CodeIndex.useSync((service) => service))
  const cpu = process.cpuUsage()
  await runtime.runPromise(index.outline({ path: ".", limit: 1 }))
  const { user, system } = process.cpuUsage(cpu)
  const status = await runtime.runPromise(index.status)
  const rss = process.memoryUsage.rss()
  const times: Array<number> = []
  const haft: Search = async (query) => {
    const begin = performance.now()
    const { items } = await runtime.runPromise(index.search({ query, path: ".", limit: 10 }))
    times.push(performance.now() - begin)
    return items.map(({ path }) => path)
  }
  const texts = filesBelow(root).filter((path) => statSync(join(root, path)).size < 2 ** 20)
  const corpus = new Map(texts.map((path) => [path, readFileSync(join(root, path), "utf8").toLowerCase()]))
  console.log(`${name}: ${queries.length} queries, ${corpus.size} files`)
  console.log(`  words, as ripgrep   ${await judge(queries, byWords(corpus))}`)
  console.log(`  BM25 over files     ${await judge(queries, byBm25(corpus))}`)
  console.log(`  search_code         ${await judge(queries, haft)}`)
  times.sort((one, other) => one - other)
  const quantile = (at: number): string => (times[Math.floor(times.length * at)] ?? 0).toFixed(1)
  console.log(
    `  index ${((user + system) / 1e6).toFixed(1)} s CPU, ${(status.bytes / 2 ** 20).toFixed(1)} MiB, ${status.symbols} sections, ` +
      `RSS ${(rss / 2 ** 20).toFixed(0)} MiB; query p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms`
  )
  await runtime.dispose()
}

const base = mkdtempSync(join(tmpdir(), "haft-code-search-"))
try {
  const plain = join(base, "plain")
  const stripped = join(base, "stripped")
  checkOut(plain)
  checkOut(stripped)
  await measure("docstring to file", stripped, docQueries(stripped))
  await measure("commit to files", plain, commitQueries(plain))
} finally {
  rmSync(base, { recursive: true, force: true })
}
