import { ApprovalGate, type ApprovalGateService, askThroughGate } from "@haft/approval"
import { Journal, type JournalEvent } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { openArtifact, type OpenArtifact } from "@haft/node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { HaftConfig } from "./config.ts"
import { type DialectName, dialectOf } from "./dialects.ts"
import { openRules, type Rules } from "./rules.ts"
import { hostOn, rootOf, standardServices, stateOf } from "./standard-host.ts"

/** A workspace that several hosts share, with what people need around it: for servers. */
export interface OpenWorkspace {
  readonly root: string
  /** The name of this run, as the record has it. */
  readonly run: string
  /** The host of a dialect; it is made when it is first asked for. */
  readonly host: (dialect?: DialectName) => Promise<OpenHost>
  /** Questions that wait for a person. */
  readonly approvals: ApprovalGateService
  readonly rules: Rules
  /** Calls back for every event from now on; the returned function ends it. */
  readonly subscribe: (listener: (event: JournalEvent) => void) => () => void
  /** A file that a call of some run left behind. */
  readonly artifact: (run: string, path: string) => OpenArtifact | undefined
  /** Ends what still runs, answers what is open with no, and closes the record. */
  readonly dispose: () => Promise<void>
}

export const openWorkspace = async (config: HaftConfig = {}): Promise<OpenWorkspace> => {
  const state = await Effect.runPromise(stateOf(config))
  const observing = isObserved() ? await import("./telemetry.ts") : undefined
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      standardServices(config, { asker: askThroughGate }),
      askThroughGate,
      observing === undefined ? Layer.empty : observing.telemetry
    )
  )
  const services = await runtime.context()
  const journal = Context.get(services, Journal)
  if (observing !== undefined) journal.subscribe((event) => runtime.runSync(observing.countEvent(event)))
  const hosts = new Map<string, Promise<OpenHost>>()
  const open = (dialect: ReturnType<typeof dialectOf>): Promise<OpenHost> =>
    openHost(hostOn(config, dialect).pipe(Layer.provide(Layer.succeedContext(services))))

  return {
    root: rootOf(config),
    run: journal.run,
    host: (name) => {
      const dialect = dialectOf(name ?? config.dialect)
      const host = hosts.get(dialect.name) ?? open(dialect)
      hosts.set(dialect.name, host)
      return host
    },
    approvals: Context.get(services, ApprovalGate),
    rules: await openRules(config),
    subscribe: journal.subscribe,
    artifact: (run, path) => openArtifact({ directory: state, run, path }),
    dispose: async () => {
      for (const host of hosts.values()) await host.then((opened) => opened.dispose()).catch(() => {})
      await runtime.dispose()
    }
  }
}

// Most hosts are not: what sends traces is loaded only where somebody wants them.
const isObserved = (): boolean =>
  ["", "_TRACES", "_METRICS"].some((kind) => (process.env[`OTEL_EXPORTER_OTLP${kind}_ENDPOINT`] ?? "") !== "")
