import { describe, expect, it } from "@effect/vitest"
import { type Dialect, Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { nodeWorkspace } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Layer from "effect/Layer"

import { fsTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

const hostFor =
  (dialect: Dialect): CaseHost =>
  ({ root, state }, approver) =>
    Host.layer({ dialect, plugins: [use(fsTools)] }).pipe(
      Layer.provide(
        Layer.mergeAll(nodeWorkspace({ root, state, durable: false }), memoryJournal(), memoryArtifacts(), approver)
      )
    )

describe.each([haft, agentbench, toolrouter, approvalgate, cliagent, filetools])("$name", (dialect) => {
  const tools = fsTools.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
  describe.each(tools)("%s", (tool) => {
    it.each(loadCases(contracts, dialect.name, [tool]))("$name", async (contractCase) => {
      await expect(playCase(contractCase, hostFor(dialect))).resolves.toHaveProperty("wire")
    })
  })
})
