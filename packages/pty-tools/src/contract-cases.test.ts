import { describe, expect, it } from "@effect/vitest"
import { type Dialect, Host, memoryArtifacts, memoryJournal, Sandbox, use } from "@haft/core"
import { haft, toolrouter } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { ptyTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

// The contract's replies say nothing of a sandbox that holds; that there is none is tested beside the tools.
const sandboxes = {
  haft: noSandbox(),
  toolrouter: Layer.effect(
    Sandbox,
    Sandbox.useSync(({ wrap }) => ({
      wrap,
      describe: Effect.succeed({ kind: "test", isolated: true, enforced: [], notEnforced: [] })
    }))
  ).pipe(Layer.provide(noSandbox()))
}

const hostFor =
  (dialect: Dialect): CaseHost =>
  ({ root, state }, approver) =>
    Host.layer({ dialect, plugins: [use(ptyTools, {})] }).pipe(
      Layer.provide(
        Layer.mergeAll(
          nodeWorkspace({ root, state }),
          nodeProcesses,
          sandboxes[dialect.name as keyof typeof sandboxes],
          memoryJournal(),
          memoryArtifacts(),
          approver
        )
      )
    )

describe.each([haft, toolrouter])("$name", (dialect) => {
  const tools = ptyTools.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
  describe.concurrent.each(tools)("%s", (tool) => {
    it.each(loadCases(contracts, dialect.name, [tool]))("$name", async (contractCase) => {
      await expect(playCase(contractCase, hostFor(dialect))).resolves.toHaveProperty("wire")
    })
  })
})
