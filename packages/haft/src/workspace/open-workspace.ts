import { join } from "node:path"

import {
  agentControl,
  type AgentState,
  ApprovalGate,
  type ApprovalGateService,
  type ApprovalMode,
  askThroughGate,
  modeSwitch,
  RuleStore,
  stateRules
} from "@haft/approval"
import {
  Approver,
  CodeIndex,
  type CodeIndexStatus,
  type ConfiguredPlugin,
  Journal,
  type JournalEvent,
  type Party,
  Workspace
} from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import {
  type JournalPages,
  journalPages,
  listRuns,
  openArtifact,
  type OpenArtifact,
  type PrunedRuns,
  pruneState,
  type RunFile
} from "@haft/node/internal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"

import { branchesIn } from "../branches/branches.ts"
import { promiseBranches } from "../branches/promise-branches.ts"
import { type ServedBranches, servedBranches } from "../branches/served-branches.ts"
import { checkConfig, type HaftConfig, type StandardServices } from "../config/config.ts"
import { type DialectName, nameOfDialect } from "../host/dialects.ts"
import { standardPlugins } from "../host/packages.ts"
import { hostOn, rootOf, type SharedParts, standardServices, stateFilesOf, stateOf } from "../host/standard-host.ts"
import { type RecordMetrics, recordMetrics } from "../record/record-metrics.ts"
import { type FoundCalls, type RecordQuery, searchRecord } from "../record/search-record.ts"
import { countEvents } from "../telemetry/count-events.ts"
import { isExported, openTelemetry, type Telemetry, telemetryOf } from "../telemetry/telemetry.ts"
import { openTerminals, type OpenTerminals } from "./open-terminals.ts"
import { type PromiseRules, promiseRules } from "./promise-rules.ts"
import type { Replay } from "./replay.ts"
import { rulesIn } from "./rules.ts"
import { type RunningCalls, trackCalls } from "./running-calls.ts"

/** A workspace for servers: several hosts share it, and people can watch and approve what they do. */
export interface OpenWorkspace {
  readonly root: string
  /** The name of this run, as the record has it. */
  readonly run: string
  /** Names of the dialects that callers may choose; the first is the default. */
  readonly dialects: ReadonlyArray<string>
  /**
   * The host of a dialect, made on first use. Rejects with {@link DialectNotAllowed} for one that is not granted, unless
   * a person calls, not an agent.
   */
  readonly host: (dialect?: string, caller?: { readonly isPerson: boolean }) => Promise<OpenHost>
  /** Questions that wait for a person. */
  readonly approvals: ApprovalGateService
  readonly rules: PromiseRules
  /** Several attempts side by side, each with a host of its own. */
  readonly branches: ServedBranches
  /** How much runs without a question now. */
  readonly mode: () => ApprovalMode
  /** Changes the mode until the workspace is closed, for calls that are judged from now on. On record with who did it. */
  readonly setMode: (mode: ApprovalMode, by?: Party) => Promise<void>
  /** Agents that have called, to pause them and to send them messages. On record with who did it. */
  readonly agents: SupervisedAgents
  /** Calls that are under way. */
  readonly calls: RunningCalls
  /** Calls on record in any run that fit a query, the newest first. */
  readonly search: (query: RecordQuery) => Promise<FoundCalls>
  /** Figures of runs by name, or of the whole record. */
  readonly metrics: (runs?: ReadonlyArray<string>) => Promise<RecordMetrics>
  /** Calls back for every event from now on; the returned function ends it. */
  readonly subscribe: (listener: (event: JournalEvent) => void) => () => void
  /** The runs on record, oldest first. */
  readonly runs: () => ReadonlyArray<RunFile>
  /** Removes records and artifacts of runs that began before a time; those of living hosts and the newest one stay. */
  readonly prune: (before: Date, options?: { readonly isDry?: boolean; readonly by?: Party }) => Promise<PrunedRuns>
  /** Makes the calls of a run again on a copy of the workspace, and compares replies and files. */
  readonly replay: (run: string) => Promise<Replay>
  /** The record of a run, in parts; undefined when there is none. */
  readonly record: (run: string) => JournalPages | undefined
  /** Open terminals of all hosts. */
  readonly terminals: OpenTerminals
  /** Contents of the code index; undefined where there is none yet, or none can be had. */
  readonly codeIndex: () => Promise<CodeIndexStatus | undefined>
  /** A file that a call of some run left behind. */
  readonly artifact: (run: string, path: string) => OpenArtifact | undefined
  /** Ends running calls, denies open questions, and closes the record. */
  readonly dispose: () => Promise<void>
}

/** The agents of a workspace, under the supervision of people. */
export interface SupervisedAgents {
  /** Agents that have called, the latest first. */
  readonly list: () => ReadonlyArray<AgentState>
  /** Holds the calls of an agent until it is resumed. */
  readonly pause: (name: string, by?: Party) => Promise<void>
  readonly resume: (name: string, by?: Party) => Promise<void>
  /** A message that the agent gets with the reply to its next call. */
  readonly tell: (name: string, message: string, by?: Party) => Promise<void>
}

/** A dialect that the configuration of a workspace does not grant to its callers. */
export class DialectNotAllowed extends Error {
  override readonly name = "DialectNotAllowed"
}

export interface OpenWorkspaceOptions {
  /** Parts that a cluster provides: it decides commits and keeps documents. */
  readonly shared?: SharedParts & {
    /** Called when the steps of a commit are done. */
    readonly onCommitted: () => void
  }
  /** The telemetry of the process, and the name of the workspace in it. Without, the workspace exports its own. */
  readonly telemetry?: { readonly of: Telemetry; readonly workspace: string }
}

/** Opens a workspace. */
export const openWorkspace = async (
  config: HaftConfig = {},
  { shared, telemetry }: OpenWorkspaceOptions = {}
): Promise<OpenWorkspace> => {
  checkConfig(config)
  const state = await Effect.runPromise(stateOf(config))
  const ownTelemetry = telemetry === undefined && isExported() ? await openTelemetry() : undefined
  const observing = telemetry === undefined ? ownTelemetry?.context : telemetryOf(telemetry.of, telemetry.workspace)
  const mode = modeSwitch(config.mode)
  const agents = agentControl()
  const calls = trackCalls()
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      standardServices(config, { asker: askThroughGate, mode, agents, expiryMs: 30 * 60_000 }, shared),
      askThroughGate,
      // Effect builds a layer once, so this is the same store that the hosts decide by.
      stateRules.pipe(Layer.provide(stateFilesOf(state, shared))),
      observing === undefined ? Layer.empty : Layer.succeedContext(observing)
    )
  )
  const services = await runtime.context()
  const journal = Context.get(services, Journal)
  if (shared !== undefined) Context.get(services, Workspace).onCommit?.(shared.onCommitted)
  if (observing !== undefined) journal.subscribe(countEvents(observing))
  const started = await startPackages(config, services)
  const hosts = new Map<string, Promise<OpenHost>>()
  const open = (dialect: HaftConfig["dialect"]): Promise<OpenHost> =>
    openHost(hostOn(config, dialect, started).pipe(Layer.provide(Layer.succeedContext(services)))).then(calls.tracked)
  const own = nameOfDialect(config.dialect)
  const dialects = [...new Set([own, ...(config.alsoDialects ?? [])])]
  const granted: OpenWorkspace["host"] = async (name = own, { isPerson } = { isPerson: false }) => {
    if (!isPerson && !dialects.includes(name)) {
      throw new DialectNotAllowed(`this workspace does not speak '${name}', only ${dialects.join(", ")}`)
    }
    return hostOf(name === own ? config.dialect : (name as DialectName))
  }
  const hostOf = (dialect: HaftConfig["dialect"]): Promise<OpenHost> => {
    const name = nameOfDialect(dialect)
    const host = hosts.get(name) ?? open(dialect)
    hosts.set(name, host)
    return host
  }
  const approver = Context.get(services, Approver)
  const branches = servedBranches(promiseBranches(await runtime.runPromise(branchesIn(config, services))), (question) =>
    runtime.runPromise(approver.ask(question))
  )
  const records = new Map<string, JournalPages>()
  const recordOf = (run: string): JournalPages | undefined => {
    const file = run === journal.run ? join(state, "runs", run, "events.jsonl") : fileOf(state, run)
    if (file === undefined) return undefined
    const pages = records.get(run) ?? journalPages(file)
    records.set(run, pages)
    return pages
  }
  const metricsOf = recordMetrics(recordOf)
  // On record first: what nobody can trace is not done.
  const recorded = (type: string, about: object, by: Party | undefined): Promise<void> =>
    runtime.runPromise(
      journal.append({ type, at: Date.now(), ...about, ...(by !== undefined && { person: by }) }, { durable: true })
    )

  return {
    root: rootOf(config),
    run: journal.run,
    dialects,
    host: granted,
    approvals: Context.get(services, ApprovalGate),
    branches,
    rules: promiseRules(rulesIn(config, Context.get(services, RuleStore))),
    mode: mode.current,
    setMode: async (next, by) => {
      const from = mode.current()
      if (next === from) return
      await recorded("mode_changed", { from, to: next }, by)
      mode.set(next)
    },
    agents: {
      list: agents.agents,
      pause: async (name, by) => {
        await recorded("agent_paused", { agent: name }, by)
        agents.pause(name, by)
      },
      resume: async (name, by) => {
        await recorded("agent_resumed", { agent: name }, by)
        agents.resume(name)
      },
      tell: async (name, message, by) => {
        await recorded("message_sent", { agent: name, message }, by)
        agents.tell(name, `message from ${by?.name ?? "a person"}: ${message}`)
      }
    },
    calls,
    search: (query) =>
      searchRecord(
        listRuns(state).map(({ name }) => name),
        recordOf,
        query
      ),
    metrics: (runs = listRuns(state).map(({ name }) => name)) => metricsOf(runs),
    subscribe: journal.subscribe,
    runs: () => listRuns(state),
    prune: async (before, { isDry = false, by } = {}) => {
      const found = pruneState(state, { before, isDry: true })
      if (isDry || found.runs.length === 0) return found
      await recorded("runs_pruned", { before: before.toISOString(), runs: found.runs.length, bytes: found.bytes }, by)
      for (const run of found.runs) records.delete(run)
      return pruneState(state, { before })
    },
    replay: async (run) => {
      const { replayRun } = await import("./replay.ts")
      return Effect.runPromise(replayRun(config, { run }))
    },
    record: recordOf,
    terminals: openTerminals(started.terminals, () => hostOf("haft")),
    codeIndex: () =>
      runtime.runPromise(
        CodeIndex.use(({ status }) => status).pipe(
          Effect.map((status) => (status.refreshedAt === undefined ? undefined : status)),
          Effect.orElseSucceed(() => undefined)
        )
      ),
    artifact: (run, path) => openArtifact({ directory: state, run, path }),
    dispose: async () => {
      await branches.dispose()
      for (const host of hosts.values()) await host.then((opened) => opened.dispose()).catch(() => {})
      await started.dispose()
      await runtime.dispose()
      await ownTelemetry?.dispose()
    }
  }
}

const startedAs = (
  plugin: ConfiguredPlugin<StandardServices>,
  provided: Context.Context<unknown>
): ConfiguredPlugin<StandardServices> => ({ ...plugin, layer: Layer.succeedContext(provided) })

const fileOf = (state: string, run: string): string | undefined =>
  listRuns(state).find(({ name }) => name === run)?.file

/** Starts haft's own packages once for all dialects, so that a terminal opened in one exists in all others. */
const startPackages = async (config: HaftConfig, services: Context.Context<StandardServices>) => {
  const own = await standardPlugins(config.packages)
  const layer = Layer.effectContext(
    Effect.reduce(
      own,
      () => Context.empty() as Context.Context<unknown>,
      (all, plugin) => Effect.map(Layer.build(plugin.layer), (provided) => Context.merge(all, provided))
    )
  )
  const runtime = ManagedRuntime.make(layer.pipe(Layer.provide(Layer.succeedContext(services))))
  const provided = await runtime.context()
  const hasTerminals = own.some(({ name }) => name === "@haft/pty-tools")
  const { Terminals } = hasTerminals ? await import("@haft/pty-tools") : {}
  return {
    own: own.map((plugin) => startedAs(plugin, provided)),
    terminals: Terminals && Option.getOrUndefined(Context.getOption(provided, Terminals)),
    dispose: () => runtime.dispose()
  }
}
