import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { isRunBefore } from "./runs.ts"

/** Directories of a run whose artifacts expire. Diffs and contents of events stay as long as the audit log does. */
const expiring = ["logs", "replies", "processes", "terminals"]

/** Runs that are looked at each time; older ones were looked at before. */
const mostRuns = 100

/** Removes output, replies and recordings of runs that began more than `keepDays` days ago. */
export const expireArtifacts = (state: string, keepDays: number): void => {
  const before = new Date(Date.now() - keepDays * 86_400_000)
  for (const run of expiredRuns(join(state, "runs"), before)) {
    for (const name of expiring) rmSync(join(state, "runs", run, name), { recursive: true, force: true })
  }
}

const expiredRuns = (runs: string, before: Date): ReadonlyArray<string> => {
  try {
    return readdirSync(runs)
      .filter((run) => isRunBefore(run, before))
      .toSorted()
      .slice(-mostRuns)
  } catch {
    return []
  }
}
