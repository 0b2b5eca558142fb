import { type JournalEvent, reasonOf } from "@haft/core"
import {
  followJournal,
  followRuns,
  listRuns,
  readJournal,
  type RunFile,
  type Verification,
  verifyJournal
} from "@haft/node"
import * as Effect from "effect/Effect"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"

/** The runs of a workspace, oldest first. */
export const runsOf = async (config: HaftConfig = {}): Promise<ReadonlyArray<RunFile>> =>
  listRuns(await Effect.runPromise(stateOf(config)))

/** The events of a run: the one named, the one in a file, or the last. */
export const readRun = async (
  config: HaftConfig,
  which: { readonly run?: string; readonly file?: string } = {}
): Promise<ReadonlyArray<JournalEvent>> => {
  const file = which.file ?? (await runFile(config, which.run)).file
  try {
    return readJournal(file)
  } catch (cause) {
    throw new ConfigError(`the record ${file} can't be read: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * Calls `onEvent` for every event of a run, past and future, until the signal is aborted. Without a run, for the events
 * of the last run and of all runs after it.
 */
export const followRun = async (
  config: HaftConfig,
  run: string | undefined,
  options: { readonly onEvent: (event: JournalEvent) => void; readonly signal: AbortSignal }
): Promise<void> =>
  run === undefined
    ? followRuns(await Effect.runPromise(stateOf(config)), options)
    : followJournal((await runFile(config, run)).file, options)

/** Whether a run's record is whole and as it was written. */
export const verifyRun = async (config: HaftConfig, run?: string): Promise<Verification> =>
  verifyJournal((await runFile(config, run)).file)

/** The file of a run's record: of the run that is named, or of the last that has any events. */
export const runFile = async (config: HaftConfig, run: string | undefined): Promise<RunFile> => {
  const runs = await runsOf(config)
  const found = run === undefined ? runs.findLast(({ bytes }) => bytes > 0) : runs.find(({ name }) => name === run)
  if (found !== undefined) return found
  const last = runs.slice(-5).map(({ name }) => name)
  throw new ConfigError(
    run === undefined
      ? "nothing is on record for this workspace yet"
      : `there is no run '${run}'. The last are: ${last.join(", ")}`
  )
}
