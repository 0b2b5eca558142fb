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

const attacks = readdirSync(join(import.meta.dirname, "attacks"))
  .map((file) => file.replace(/\.ts$/, ""))
  .filter((name) => positionals.length === 0 || positionals.some((filter) => name.includes(filter)))
  .toSorted()
if (attacks.length === 0) usage(`no attack is called ${positionals.join(" or ")}`)

const leastSeconds = 2
const rows: Array<Figure & { readonly attack: string }> = []
const until = performance.now() + total * 1000
// One after the other. The time that is left is divided equally among those that are left.
for (const [index, name] of attacks.entries()) {
  await play(name, Math.max(leastSeconds, (until - performance.now()) / 1000 / (attacks.length - index)))
}

const missed = rows.filter(({ isMet }) => !isMet)
console.log(tableOf(rows))
for (const { attack, what, cases = [] } of missed) {
  for (const one of cases) console.log(`\n${attack}, ${what}:\n  ${one}`)
}
console.log(`\n${rows.length} figures, ${missed.length} missed; --seed ${seed}`)
process.exitCode = missed.length === 0 ? 0 : 1

/** Runs an attack in its own process, so that one that crashes or hangs counts as missed and the others go on. */
async function play(name: string, seconds: number): Promise<void> {
  const began = performance.now()
  const add = (figure: Figure): void => void rows.push({ attack: name, ...figure })
  const flags = [...process.execArgv, "--expose-gc"]
  const child = fork(join(import.meta.dirname, "run-attack.ts"), [name, String(seconds), String(seed)], {
    execArgv: flags,
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })
  child.on("message", (message) => {
    const figure = message as Figure
    add(figure)
    console.error(`${figure.isMet ? "ok" : "MISS"}  ${name}, ${figure.what}`)
  })
  const patience = setTimeout(() => child.kill("SIGKILL"), (seconds * 4 + 240) * 1000)
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null]
  clearTimeout(patience)
  console.error(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  if (code === 0) return
  const found = signal === null ? `exit code ${code}` : `ended by ${signal}`
  add({ what: "the attack ends by itself", tried: "once", found, goal: "exit code 0", isMet: false })
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
