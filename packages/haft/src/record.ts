import { type JournalEvent, type RecordedCall, recordedCalls, type Reply } from "@haft/core"
import { followJournal, listRuns, readJournal, type RunFile, type Verification, verifyJournal } from "@haft/node"
import * as Effect from "effect/Effect"

import { ConfigError, type HaftConfig } from "./config.ts"
import type { DialectName } from "./dialects.ts"
import { openHost } from "./promise.ts"
import { stateOf } from "./standard-host.ts"

/** The runs of a workspace, oldest first. */
export const runsOf = async (config: HaftConfig = {}): Promise<ReadonlyArray<RunFile>> =>
  listRuns(await Effect.runPromise(stateOf(config)))

/** The record of a run: the one named, the one in a file, or the last. */
export const readRun = async (
  config: HaftConfig,
  which: { readonly run?: string; readonly file?: string } = {}
): Promise<ReadonlyArray<JournalEvent>> => {
  const file = which.file ?? (await runFile(config, which.run)).file
  try {
    return readJournal(file)
  } catch (cause) {
    throw new ConfigError(`the record ${file} can't be read: ${(cause as Error).message}`, { cause })
  }
}

/** Calls back for every event of a run, those to come too, until the signal says enough. */
export const followRun = async (
  config: HaftConfig,
  run: string | undefined,
  options: { readonly onEvent: (event: JournalEvent) => void; readonly signal: AbortSignal }
): Promise<void> => followJournal((await runFile(config, run)).file, options)

/** Whether a run's record is whole and as it was written. */
export const verifyRun = async (config: HaftConfig, run?: string): Promise<Verification> =>
  verifyJournal((await runFile(config, run)).file)

/** A call of a record that was made again. */
export interface ReplayedCall {
  readonly call: RecordedCall
  /** Absent when it could not be made again: why not is said. */
  readonly reply?: Reply
  readonly skipped?: string
  readonly isSame: boolean
}

/** Makes the calls of a run again, in order, in the workspace as it is now. */
export const replayRun = async (
  config: HaftConfig,
  run: string | undefined,
  onCall: (replayed: ReplayedCall) => void
): Promise<void> => {
  const calls = recordedCalls(await readRun(config, run === undefined ? {} : { run }))
  const dialect = calls[0]?.dialect as DialectName | undefined
  await using host = await openHost({ ...config, ...(dialect !== undefined && { dialect }) })
  for (const call of calls) {
    if (call.isRedacted) {
      onCall({ call, skipped: "the record hides a secret among its arguments", isSame: false })
      continue
    }
    const reply = await host.call(call.tool, call.params)
    onCall({ call, reply, isSame: reply.ok === (call.status === "success") })
  }
}

const runFile = async (config: HaftConfig, run: string | undefined): Promise<RunFile> => {
  const runs = await runsOf(config)
  const found = run === undefined ? runs.at(-1) : runs.find(({ name }) => name === run)
  if (found !== undefined) return found
  const last = runs.slice(-5).map(({ name }) => name)
  throw new ConfigError(
    run === undefined
      ? "nothing is on record for this workspace yet"
      : `there is no run '${run}'. The last are: ${last.join(", ")}`
  )
}
