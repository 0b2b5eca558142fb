import { dirname, resolve, sep } from "node:path"

import { Host, type PluginError, reasonOf, type ToolError, Workspace, type WorkspaceService } from "@haft/core"
import {
  compareFiles,
  type FileDifference,
  filesOf,
  type RecordedCall,
  recordedCalls,
  type ReplayedCall,
  replayCalls
} from "@haft/core/internal"
import { copyWorkspace, makeScratchDirectory, restoreLargeContents } from "@haft/node/internal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { dialectNamed } from "../host/dialects.ts"
import { hostOn, rootOf, standardServices, stateOf } from "../host/standard-host.ts"
import { readRun, runFile, runsOf } from "./record.ts"

export interface Replay {
  readonly run: string
  readonly calls: ReadonlyArray<ReplayedCall>
  /** Files that are not what the run left behind. */
  readonly files: ReadonlyArray<FileDifference>
  /** Why the calls began with the workspace as it is now, and not as it was before the run. */
  readonly whyNotBefore?: string
}

/**
 * Makes the calls of a run again on a copy of the workspace, as it was before the run, and compares replies and files.
 * Calls that were approved then are approved again, except calls that reach beyond the copy: those need `approval: "all"`.
 * The copy is made in `into` and kept; without it, in a temporary directory.
 */
export const replayRun = (
  config: HaftConfig,
  options: { readonly run?: string; readonly into?: string } = {}
): Effect.Effect<Replay, ConfigError | PluginError | ToolError> => Effect.scoped(replayIn(config, options))

const replayIn = Effect.fnUntraced(function* (
  config: HaftConfig,
  { run, into }: { readonly run?: string; readonly into?: string }
) {
  const { name, file } = yield* runFile(config, run)
  const events = yield* readRun(config, { run: name })
  const calls = recordedCalls(events.map((event) => restoreLargeContents(event, dirname(file))))
  const root = rootOf(config)
  const scratch = yield* Effect.acquireRelease(
    Effect.sync(() => makeScratchDirectory("haft-replay", {})),
    ({ remove }) => Effect.sync(remove)
  )
  const copy = { root: resolve(into ?? `${scratch.path}/workspace`), state: `${scratch.path}/state` }
  if (`${copy.root}${sep}`.startsWith(`${root}${sep}`)) {
    return yield* Effect.fail(new ConfigError(`${copy.root} is inside the workspace`))
  }
  const state = yield* stateOf(config)
  yield* Effect.tryPromise({
    try: () => copyWorkspace({ root, state }, copy),
    catch: (cause) => new ConfigError(`the workspace can't be copied: ${reasonOf(cause)}`, { cause })
  })
  const later = (yield* runsOf(config)).map((one) => one.name).filter((one) => one > name)
  return yield* replayOn({ ...config, ...copy, approval: "all" }, calls, {
    name,
    later,
    obstacle: config.approval === "all" ? () => () => undefined : beyondTheCopy(config),
    translate: (json) => json.replaceAll(inJson(copy.root), inJson(root))
  })
})

interface ReplaySettings {
  readonly name: string
  /** Runs that came after this one. */
  readonly later: ReadonlyArray<string>
  /** Why a call is not made again. */
  readonly obstacle: (hosts: ReadonlyArray<Host["Service"]>) => (call: RecordedCall) => string | undefined
  /** Puts the path of the workspace in the place of the copy's, in a reply as JSON. */
  readonly translate: (json: string) => string
}

const replayOn = Effect.fnUntraced(function* (
  config: HaftConfig,
  calls: ReadonlyArray<RecordedCall>,
  { name, later, obstacle, translate }: ReplaySettings
) {
  const services = yield* Layer.build(standardServices(config))
  const workspace = Context.get(services, Workspace)
  const hosts: Array<Host["Service"]> = []
  for (const dialect of new Set(calls.map((call) => call.dialect))) {
    const spoken = dialectNamed(dialect, config.dialect)
    if (spoken === undefined) continue
    const built = yield* Layer.build(hostOn(config, spoken).pipe(Layer.provide(Layer.succeedContext(services))))
    hosts.push(Context.get(built, Host))
  }
  const changedLater = yield* takeBack(workspace, later.toReversed())
  const expected = yield* filesOf(workspace)
  const whyNotBefore = changedLater ?? (yield* takeBack(workspace, [name]))
  const replayed = yield* replayCalls(calls, { hosts, obstacle: obstacle(hosts), translate })
  const files = compareFiles(expected, yield* filesOf(workspace))
  return { run: name, calls: replayed, files, ...(whyNotBefore !== undefined && { whyNotBefore }) } satisfies Replay
})

/** Undoes the changes of runs. Returns why not, where that is not possible. */
const takeBack = Effect.fnUntraced(function* (workspace: WorkspaceService, runs: ReadonlyArray<string>) {
  for (const run of runs) {
    const problem = yield* workspace.undo({ run }).pipe(
      Effect.as(undefined),
      Effect.catch((error: ToolError) => Effect.succeed(error))
    )
    if (problem === undefined) continue
    // A run that changed nothing has no history, which is fine. With details, history that there was is missing.
    if (problem.code !== "no_history" || problem.details !== undefined) return problem.message
  }
  return undefined
})

/** Why a call that may do something outside of the copy is left out: over the network, or without a sandbox. */
const beyondTheCopy =
  ({ sandbox }: HaftConfig) =>
  (hosts: ReadonlyArray<Host["Service"]>) =>
  ({ tool, dialect, touches }: RecordedCall): string | undefined => {
    const spoken = hosts.find((host) => host.dialect.name === dialect)
    const isFree = sandbox === "none" && (touches?.runs !== undefined || touches?.types !== undefined)
    const isOutside = spoken?.tools.some(({ name, openWorld }) => name === tool && openWorld) === true
    return isFree || isOutside || touches?.network === true
      ? "it reaches beyond the copy; with approval `all` it is made again all the same"
      : undefined
  }

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
