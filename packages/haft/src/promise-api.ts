import type { JournalEvent } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

import type { PromiseBranches } from "./branches/promise-branches.ts"
import type { HaftConfig } from "./config/config.ts"
import * as Config from "./config/find-config.ts"
import type { ApproverOptions } from "./host/approver.ts"
import type { Telemetry } from "./telemetry/telemetry.ts"
import type { OpenWorkspace, OpenWorkspaceOptions } from "./workspace/open-workspace.ts"
import type { PromiseRules } from "./workspace/promise-rules.ts"

// The names of `haft` for Promise users. Each rejects with what its Effect fails with. What a host itself does not need
// is loaded with its first use.

const promised =
  <Args extends ReadonlyArray<unknown>, A, E>(load: () => Promise<(...args: Args) => Effect.Effect<A, E>>) =>
  async (...args: Args): Promise<A> =>
    Effect.runPromise((await load())(...args))

const record = () => import("./workspace/record.ts")

/** Finds the configuration: the file the person names, else the workspace's if its content was trusted, else the user's. */
export const findConfig = promised(async () => Config.findConfig)

/** Remembers that this content of the configuration in the workspace may be used. */
export const trustConfig = promised(async () => Config.trustConfig)

/** Checks everything on this machine that a host depends on. Changes nothing, but makes the state directory. */
export const examine = promised(async () => (await import("./doctor.ts")).examine)

/** The runs of a workspace, oldest first. */
export const runsOf = promised(async () => (await record()).runsOf)

/** The events of a run: the one named, the one in a file, or the last. */
export const readRun = promised(async () => (await record()).readRun)

/** Checks that a run's record is whole and as it was written. */
export const verifyRun = promised(async () => (await record()).verifyRun)

/** Makes the calls of a run again on a copy of the workspace, and compares replies and files. */
export const replayRun = promised(async () => (await import("./workspace/replay.ts")).replayRun)

/**
 * Calls `onEvent` for every event of a run, past and future, until the signal is aborted. Without a run, for the events
 * of the last run and of all runs after it.
 */
export const followRun = async (
  config: HaftConfig,
  run: string | undefined,
  { onEvent, signal }: { readonly onEvent: (event: JournalEvent) => void; readonly signal: AbortSignal }
): Promise<void> => {
  const exit = await Effect.runPromiseExit((await record()).followRun(config, run, onEvent), { signal })
  if (!signal.aborted) await Effect.runPromise(exit)
}

/** The approval rules of a workspace, without a host. */
export const openRules = async (config: HaftConfig = {}): Promise<PromiseRules> => {
  const [rules, { promiseRules }] = await Promise.all([
    import("./workspace/rules.ts"),
    import("./workspace/promise-rules.ts")
  ])
  return promiseRules(await Effect.runPromise(rules.openRules(config)))
}

/** The branches of a workspace. Call `dispose` when done. */
export const openBranches = async (config: HaftConfig = {}, options: ApproverOptions = {}): Promise<OpenBranches> => {
  const [{ openBranches: open }, { promiseBranches }] = await Promise.all([
    import("./branches/branches.ts"),
    import("./branches/promise-branches.ts")
  ])
  const scope = Scope.makeUnsafe()
  const dispose = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const branches = promiseBranches(await Effect.runPromise(Scope.provide(open(config, options), scope)))
    return { ...branches, dispose, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Branches that are open until they are disposed of. */
export interface OpenBranches extends PromiseBranches {
  readonly dispose: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A workspace for servers: several hosts share it, and people can watch and approve what they do. */
export const openWorkspace = async (
  config: HaftConfig = {},
  options: Pick<OpenWorkspaceOptions, "telemetry"> = {}
): Promise<OpenWorkspace> => (await import("./workspace/open-workspace.ts")).openWorkspace(config, options)

/** Metrics and traces of a process; see {@link Telemetry}. */
export const openTelemetry = async (): Promise<Telemetry> => (await import("./telemetry/telemetry.ts")).openTelemetry()
