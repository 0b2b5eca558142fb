// Measures one file of src/groups, and sends each result to the parent process. Each group has its own process, because
// what one leaves in memory and in V8's profiles would affect the next.
import { join } from "node:path"

import type { Benchmark, Group, Result, Setting } from "./benchmark.ts"
import { measure } from "./measure.ts"
import { doubledIn, readRecorded, type Recorded } from "./recorded.ts"
import { titleOf } from "./report.ts"

/** Its only argument, as JSON. */
export interface Order {
  readonly file: string
  readonly setting: Setting
  /** Compare with bench/recorded.json. */
  readonly check: boolean
}

/** The messages to the parent process. */
export type Told = { readonly result: Result } | { readonly problem: string }

const { file, setting, check } = JSON.parse(process.argv[2] ?? "{}") as Order
const recorded: Recorded = check ? readRecorded() : {}
const { benchmarks } = (await import(join(import.meta.dirname, "groups", file))) as { readonly benchmarks: Group }

const tell = (told: Told): Promise<void> => new Promise((resolve) => process.send?.(told, () => resolve()))

/** A ratio that has doubled is measured again, so that a short load on the machine does not fail a change. */
const measureFairly = async (benchmark: Benchmark): Promise<void> => {
  for (let tries = 1; ; tries++) {
    const result = await measure(benchmark, setting)
    const doubled = doubledIn(result, recorded)
    if (doubled.length > 0 && tries < 3) continue
    for (const problem of doubled) await tell({ problem })
    return tell({ result })
  }
}

try {
  for await (const benchmark of benchmarks(setting)) {
    try {
      await measureFairly(benchmark)
    } catch (error) {
      await tell({ problem: `${titleOf(benchmark)}: ${String(error)}` })
    } finally {
      await benchmark.close?.()
    }
  }
} catch (error) {
  await tell({ problem: `${file}: ${String(error)}` })
}
process.exit(0)
