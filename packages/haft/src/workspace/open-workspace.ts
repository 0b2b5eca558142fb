import { join } from "node:path"

import {
  ApprovalGate,
  type ApprovalGateService,
  type ApprovalMode,
  askThroughGate,
  modeSwitch,
  RuleStore,
  stateRules
} from "@haft/approval"
import { Approver, type ConfiguredPlugin, Journal, type JournalEvent, type Party } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { fileState } from "@haft/node"
import {
  type JournalPages,
  journalPages,
  listRuns,
  openArtifact,
  type OpenArtifact,
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
import { hostOn, rootOf, standardServices, stateOf } from "../host/standard-host.ts"
import { openTerminals, type OpenTerminals } from "./open-terminals.ts"
import { type PromiseRules, promiseRules } from "./promise-rules.ts"
import { rulesIn } from "./rules.ts"

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
  /** Calls back for every event from now on; the returned function ends it. */
  readonly subscribe: (listener: (event: JournalEvent) => void) => () => void
  /** The runs on record, oldest first. */
  readonly runs: () => ReadonlyArray<RunFile>
  /** The record of a run, in parts; undefined when there is none. */
  readonly record: (run: string) => JournalPages | undefined
  /** Open terminals of all hosts. */
  readonly terminals: OpenTerminals
  /** A file that a call of some run left behind. */
  readonly artifact: (run: string, path: string) => OpenArtifact | undefined
  /** Ends running calls, denies open questions, and closes the record. */
  readonly dispose: () => Promise<void>
}

/** A dialect that the configuration of a workspace does not grant to its callers. */
export class DialectNotAllowed extends Error {
  override readonly name = "DialectNotAllowed"
}

export const openWorkspace = async (config: HaftConfig = {}): Promise<OpenWorkspace> => {
  checkConfig(config)
  const state = await Effect.runPromise(stateOf(config))
  const observing = isObserved() ? await import("../host/telemetry.ts") : undefined
  const mode = modeSwitch(config.mode)
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      standardServices(config, { asker: askThroughGate, mode, expiryMs: 30 * 60_000 }),
      askThroughGate,
      // Effect builds a layer once, so this is the same store that the hosts decide by.
      stateRules.pipe(Layer.provide(fileState({ directory: state }))),
      observing === undefined ? Layer.empty : observing.telemetry
    )
  )
  const services = await runtime.context()
  const journal = Context.get(services, Journal)
  if (observing !== undefined) journal.subscribe((event) => runtime.runSync(observing.countEvent(event)))
  const started = await startPackages(config, services)
  const hosts = new Map<string, Promise<OpenHost>>()
  const open = (dialect: HaftConfig["dialect"]): Promise<OpenHost> =>
    openHost(hostOn(config, dialect, started).pipe(Layer.provide(Layer.succeedContext(services))))
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
      // On record first: a mode that nobody can trace is not set.
      const at = Date.now()
      const event = { type: "mode_changed", at, from, to: next, ...(by !== undefined && { person: by }) }
      await runtime.runPromise(journal.append(event, { durable: true }))
      mode.set(next)
    },
    subscribe: journal.subscribe,
    runs: () => listRuns(state),
    record: (run) => {
      const file = run === journal.run ? join(state, "runs", run, "events.jsonl") : fileOf(state, run)
      if (file === undefined) return undefined
      const pages = records.get(run) ?? journalPages(file)
      records.set(run, pages)
      return pages
    },
    terminals: openTerminals(started.terminals, () => hostOf("haft")),
    artifact: (run, path) => openArtifact({ directory: state, run, path }),
    dispose: async () => {
      await branches.dispose()
      for (const host of hosts.values()) await host.then((opened) => opened.dispose()).catch(() => {})
      await started.dispose()
      await runtime.dispose()
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

// Telemetry is loaded only where the environment asks for it, because most hosts do without.
const isObserved = (): boolean =>
  ["", "_TRACES", "_METRICS"].some((kind) => (process.env[`OTEL_EXPORTER_OTLP${kind}_ENDPOINT`] ?? "") !== "")
