import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Result } from "./benchmark.ts"
import { titleOf } from "./report.ts"

const file = join(import.meta.dirname, "..", "recorded.json")

/** The ratios of haft to the floor when they were last recorded, by benchmark and contender. */
export type Recorded = Readonly<Record<string, number>>

export const readRecorded = (): Recorded =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Recorded) : {}

export const writeRecorded = (results: ReadonlyArray<Result>): void => {
  const ratios = results.flatMap((result) =>
    oursIn(result).map(({ key, ratio }) => [key, Number(ratio.toPrecision(3))])
  )
  writeFileSync(file, `${JSON.stringify({ ...readRecorded(), ...Object.fromEntries(ratios) }, null, 2)}\n`)
}

/** The ratios that have doubled since they were recorded. */
export const doubledIn = (result: Result, recorded: Recorded): ReadonlyArray<string> =>
  oursIn(result).flatMap(({ key, ratio }) => {
    const before = recorded[key] ?? Number.POSITIVE_INFINITY
    return ratio > 2 * before ? [`${key}: ${ratio.toPrecision(3)}, recorded as ${before}`] : []
  })

const oursIn = (result: Result) =>
  result.measured
    .filter(({ kind, contender }) => kind === "haft" && contender !== result.floor)
    .map(({ contender, ratio }) => ({ key: `${titleOf(result)}: ${contender}`, ratio }))
