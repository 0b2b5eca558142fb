// npm run exec -- node --conditions=@haft/source bench/src/redaction/main.ts [--show N] DIRECTORY …
//   --show N   also prints N replaced lines of each directory, evenly spread
//
// Counts what redaction replaces in source files. Published sources hold hardly any secrets, so nearly every replacement
// in them is a false positive: the rate is an upper bound.
import { type Dirent, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { parseArgs } from "node:util"

import { redactText } from "@haft/core"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: "string", default: "0" } }
})

const source = /\.(?:[cm]?[jt]sx?|json|ya?ml|toml|ini|cfg|py|go|rs|rb|java|php|c|h|cpp|cs|sh|html?|md|rst|txt)$/
// A minified file is one line; counting lines means nothing there.
const longestLine = 2_000

function* sourceFiles(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== ".git") yield* sourceFiles(join(directory, entry.name))
    else if (isSource(entry)) yield join(directory, entry.name)
  }
}

const isSource = (entry: Dirent): boolean =>
  entry.isFile() && source.test(entry.name) && !/\.min\.|-lock\.|\.lock\./.test(entry.name)

interface Replaced {
  readonly file: string
  readonly before: string
  readonly after: string
}

const measure = (directory: string): void => {
  let files = 0
  let lines = 0
  let bytes = 0
  let milliseconds = 0
  const changed = new Set<string>()
  const replaced: Array<Replaced> = []
  for (const path of sourceFiles(directory)) {
    const text = readFileSync(path, "utf8")
    const before = text.split("\n")
    if (before.some((line) => line.length > longestLine)) continue
    files++
    lines += before.length
    bytes += text.length
    const start = performance.now()
    const redacted = redactText(text)
    milliseconds += performance.now() - start
    if (redacted === text) continue
    const file = relative(directory, path)
    changed.add(file)
    const after = redacted.split("\n")
    if (after.length !== before.length) replaced.push({ file, before: "(several lines)", after: "" })
    else
      before.forEach((line, at) => line !== after[at] && replaced.push({ file, before: line, after: after[at] ?? "" }))
  }
  const per = (count: number, of: number): string => ((count / of) * 100_000).toFixed(1)
  console.log(`${directory}: ${files} files, ${lines} lines, ${(bytes / 2 ** 20).toFixed(1)} MiB`)
  console.log(
    `  replaced in ${replaced.length} lines (${per(replaced.length, lines)} of 100,000) of ${changed.size} files`
  )
  console.log(`  ${(bytes / 2 ** 20 / (milliseconds / 1000)).toFixed(0)} MiB/s`)
  const shown = Math.min(Number(values.show), replaced.length)
  for (let at = 0; at < shown; at++) {
    const { file, before, after } = replaced[Math.floor((at * replaced.length) / shown)] as Replaced
    console.log(`  ${file}\n    - ${before.trim().slice(0, 160)}\n    + ${after.trim().slice(0, 160)}`)
  }
}

for (const directory of positionals) measure(directory)
