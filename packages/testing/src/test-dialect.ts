import {
  type Approver,
  type Artifacts,
  type Dialect,
  Host,
  type Journal,
  memoryArtifacts,
  memoryJournal,
  memoryState,
  type Plugin,
  type StateFiles,
  use
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import { type CaseHost, loadCases, playCase } from "./contract-cases.ts"
import type { TemporaryWorkspace } from "./temporary-workspace.ts"

/** A dialect in a package of its own, with the cases of its contract. */
export interface DialectUnderTest<PerCase, Shared> {
  readonly dialect: Dialect
  readonly plugin: Plugin<PerCase | Shared | Approver | Journal | Artifacts | StateFiles, undefined>
  /** The directory that has `<dialect>/cases`. */
  readonly contracts: string
  /** Services on the workspace of a case. */
  readonly services: (workspace: TemporaryWorkspace) => Layer.Layer<PerCase, unknown, Shared>
  /** Services that all cases share, such as the processes of the machine; ended by `afterAll`. */
  readonly shared: Layer.Layer<Shared, unknown>
  /** The test runner's own functions. */
  readonly it: (title: string, test: () => Promise<void>) => void
  readonly afterAll: (end: () => Promise<void>) => void
}

/** Defines a test for each case of a dialect's contract, and one that every tool has a case. */
export const testDialect = <PerCase, Shared>(subject: DialectUnderTest<PerCase, Shared>): void => {
  const { dialect, plugin, contracts, services, shared, it, afterAll } = subject
  const machine = ManagedRuntime.make(shared)
  afterAll(() => machine.dispose())
  const lent = Layer.effectContext(Effect.promise(() => machine.context()))
  const host: CaseHost = (workspace, approver) =>
    Host.layer({ dialect, plugins: [use(plugin)] }).pipe(
      Layer.provide(Layer.mergeAll(memoryJournal(), memoryArtifacts(), memoryState(), approver)),
      Layer.provide(services(workspace)),
      Layer.provide(lent)
    ) as Layer.Layer<Host, unknown>
  const tools = plugin.tools.map(({ name }) => name)
  const cases = loadCases(contracts, dialect.name, tools)
  for (const contractCase of cases) {
    it(`${contractCase.tool}: ${contractCase.name}`, async () => void (await playCase(contractCase, host)))
  }
  it("every tool has a case", async () => {
    const untested = tools.filter((name) => !cases.some(({ tool }) => tool === name))
    if (untested.length > 0) throw new Error(`${dialect.name} has no case of ${untested.join(", ")}`)
  })
}
