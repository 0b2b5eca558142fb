import { describe, expect, it } from "@effect/vitest"
import { Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Layer from "effect/Layer"

import { mcpFilesystem, mcpFilesystemTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

const host: CaseHost = ({ root, state }, approver) =>
  Host.layer({ dialect: mcpFilesystem, plugins: [use(mcpFilesystemTools)] }).pipe(
    Layer.provide(
      Layer.mergeAll(nodeWorkspace({ root, state, durable: false }), memoryJournal(), memoryArtifacts(), approver)
    )
  )

describe.each(mcpFilesystemTools.tools.map(({ name }) => name))("%s", (tool) => {
  it.each(loadCases(contracts, "mcp-filesystem", [tool]))("$name", async (contractCase) => {
    await expect(playCase(contractCase, host)).resolves.toHaveProperty("wire")
  })
})
