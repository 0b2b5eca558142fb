// npm run stress -- [filter …] [--for 60s] [--seed N]: every attack whose name contains a filter, or all.
import { fork } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import type { Figure } from "./attack.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { for: { type: "string", default: "60s" }, seed: { type: "string" } }
})
const total = secondsOf(values.for)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))

/** These need their time however little is given; the others share what they leave. */
const longest = ["fuzz-tools", "load", "orphans"]
const attacks = readdirSync(join(import.meta.dirname, "attacks"))
  .map((file) => file.replace(/\.ts$/, ""))
  .filter((name) => positionals.length === 0 || positionals.some((filter) => name.includes(filter)))
  .toSorted()
  .toSorted((one, other) => longest.indexOf(other) - longest.indexOf(one))
if (attacks.length === 0) usage(`no attack is called ${positionals.join(" or ")}`)

const rows: Array<Figure & { readonly attack: string }> = []
const until = performance.now() + total * 1000
for (const [index, attack] of attacks.entries()) {
  const began = performance.now()
  const seconds = Math.max(1, (until - began) / 1000 / (attacks.length - index))
  for (const figure of await play(attack, seconds)) rows.push({ attack, ...figure })
  console.error(`${attack}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

const missed = rows.filter(({ isMet }) => !isMet)
console.log(tableOf(rows))
for (const { attack, what, cases = [] } of missed) {
  for (const one of cases) console.log(`\n${attack}, ${what}:\n  ${one}`)
}
console.log(`\n${rows.length} figures, ${missed.length} missed; --seed ${seed}`)
process.exitCode = missed.length === 0 ? 0 : 1

/** Plays one attack apart: one that ends the process, or never ends, is a miss and not the end of the others. */
async function play(name: string, seconds: number): Promise<ReadonlyArray<Figure>> {
  const figures: Array<Figure> = []
  const flags = [...process.execArgv, "--expose-gc"]
  const child = fork(join(import.meta.dirname, "run-attack.ts"), [name, String(seconds), String(seed)], {
    execArgv: flags,
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })
  child.on("message", (message) => {
    const figure = message as Figure
    figures.push(figure)
    console.error(`${figure.isMet ? "ok" : "MISS"}  ${name}, ${figure.what}`)
  })
  const patience = setTimeout(() => child.kill("SIGKILL"), (seconds * 4 + 240) * 1000)
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null]
  clearTimeout(patience)
  if (code === 0) return figures
  const found = signal === null ? `exit code ${code}` : `ended by ${signal}`
  return [...figures, { what: "the attack ends by itself", tried: "once", found, goal: "exit code 0", isMet: false }]
}

function tableOf(figures: ReadonlyArray<Figure & { readonly attack: string }>): string {
  const head = ["", "attack", "what", "tried", "found", "goal"]
  const cells = figures.map(({ attack, what, tried, found, goal, isMet }) => {
    return [isMet ? "ok" : "MISS", attack, what, tried, found, goal]
  })
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((row) => row[column]?.length ?? 0)))
  return [head, ...cells]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

function secondsOf(text: string): number {
  const [, count, unit = "s"] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? []
  if (count === undefined) return usage(`--for takes 90s, 10m or 1h, not ${text}`)
  return Number(count) * (unit === "h" ? 3600 : unit === "m" ? 60 : 1)
}

function usage(problem: string): never {
  console.error(`stress: ${problem}`)
  process.exit(2)
}
