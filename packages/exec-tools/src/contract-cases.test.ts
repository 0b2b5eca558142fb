import { describe, expect, it } from "@effect/vitest"
import { type Dialect, Host, memoryArtifacts, memoryJournal, Processes, Sandbox, use } from "@haft/core"
import { agentbench, approvalgate, cliagent, haft, toolrouter } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll } from "vitest"

import { execTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

const machine = ManagedRuntime.make(nodeProcesses)
afterAll(() => machine.dispose())
const processes = Layer.effect(
  Processes,
  Effect.promise(() => machine.runPromise(Processes.useSync((service) => service)))
)

// The contracts are about replies: here commands run as they are, and the sandboxes have a suite of their own.
const sandbox = Layer.effect(
  Sandbox,
  Sandbox.useSync(({ wrap }) => ({
    wrap,
    describe: Effect.succeed({ kind: "test", isolated: true, enforced: [], notEnforced: [] })
  }))
).pipe(Layer.provide(noSandbox()))

const hostFor =
  (dialect: Dialect): CaseHost =>
  ({ root, state }, approver) =>
    Host.layer({ dialect, plugins: [use(execTools)] }).pipe(
      Layer.provide(
        Layer.mergeAll(nodeWorkspace({ root, state }), memoryJournal(), memoryArtifacts(), approver, processes, sandbox)
      )
    )

describe.each([haft, agentbench, toolrouter, approvalgate, cliagent])("$name", (dialect) => {
  const tools = execTools.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
  describe.each(tools)("%s", (tool) => {
    it.each(loadCases(contracts, dialect.name, [tool]))("$name", async (contractCase) => {
      await expect(playCase(contractCase, hostFor(dialect))).resolves.toHaveProperty("wire")
    })
  })
})
