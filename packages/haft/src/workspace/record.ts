import { type JournalEvent, reasonOf, type ToolError } from "@haft/core"
import { readJournal, type Verification, verifyJournal } from "@haft/node"
import { followJournal, followRuns, listRuns, type RunFile } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"

/** A record that is missing or can't be read, or a state directory that can't be used. */
export type RecordError = ConfigError | ToolError

/** The runs of a workspace, oldest first. */
export const runsOf = (config: HaftConfig = {}): Effect.Effect<ReadonlyArray<RunFile>, RecordError> =>
  Effect.flatMap(stateOf(config), (directory) => reading(`the runs in ${directory}`, () => listRuns(directory)))

/** The events of a run: the one named, the one in a file, or the last. */
export const readRun = Effect.fnUntraced(function* (
  config: HaftConfig,
  which: { readonly run?: string; readonly file?: string } = {}
): Effect.fn.Return<ReadonlyArray<JournalEvent>, RecordError> {
  const file = which.file ?? (yield* runFile(config, which.run)).file
  return yield* reading(`the record ${file}`, () => readJournal(file))
})

/**
 * Calls `onEvent` for every event of a run, past and future, until it is interrupted. Without a run, for the events of
 * the last run and of all runs after it.
 */
export const followRun = Effect.fnUntraced(function* (
  config: HaftConfig,
  run: string | undefined,
  onEvent: (event: JournalEvent) => void
): Effect.fn.Return<void, RecordError> {
  const directory = yield* stateOf(config)
  const follow =
    run === undefined
      ? (signal: AbortSignal) => followRuns(directory, { onEvent, signal })
      : (
          (file) => (signal: AbortSignal) =>
            followJournal(file, { onEvent, signal })
        )((yield* runFile(config, run)).file)
  yield* Effect.tryPromise({ try: follow, catch: unreadable("the record") })
})

/** Checks that a run's record is whole and as it was written. */
export const verifyRun = (config: HaftConfig, run?: string): Effect.Effect<Verification, RecordError> =>
  Effect.flatMap(runFile(config, run), ({ file }) => reading(`the record ${file}`, () => verifyJournal(file)))

/** The file of a run's record: of the run that is named, or of the last that has any events. */
export const runFile = Effect.fnUntraced(function* (
  config: HaftConfig,
  run: string | undefined
): Effect.fn.Return<RunFile, RecordError> {
  const runs = yield* runsOf(config)
  const found = run === undefined ? runs.findLast(({ bytes }) => bytes > 0) : runs.find(({ name }) => name === run)
  if (found !== undefined) return found
  const last = runs.slice(-5).map(({ name }) => name)
  return yield* Effect.fail(
    new ConfigError(
      run === undefined
        ? "nothing is on record for this workspace yet"
        : `there is no run '${run}'. The last are: ${last.join(", ")}`
    )
  )
})

const reading = <A>(what: string, read: () => A): Effect.Effect<A, ConfigError> =>
  Effect.try({ try: read, catch: unreadable(what) })

const unreadable =
  (what: string) =>
  (cause: unknown): ConfigError =>
    new ConfigError(`${what} can't be read: ${reasonOf(cause)}`, { cause })
