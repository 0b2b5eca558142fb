import { describe, it } from "@effect/vitest"
import { type Dialect, Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { haft, toolrouter } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Layer from "effect/Layer"

import { ptyTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

const hostFor =
  (dialect: Dialect): CaseHost =>
  ({ root, state }, approver) =>
    Host.layer({ dialect, plugins: [use(ptyTools, {})] }).pipe(
      Layer.provide(
        Layer.mergeAll(
          nodeWorkspace({ root, state }),
          nodeProcesses,
          noSandbox(),
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
      await playCase(contractCase, hostFor(dialect))
    })
  })
})
