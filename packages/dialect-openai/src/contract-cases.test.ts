import { describe, expect, it } from "@effect/vitest"
import { Host, memoryArtifacts, memoryJournal, memoryState, Processes, use } from "@haft/core"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll } from "vitest"

import { openai, openaiTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

const machine = ManagedRuntime.make(nodeProcesses)
afterAll(() => machine.dispose())
const processes = Layer.effect(
  Processes,
  Effect.promise(() => machine.runPromise(Processes.useSync((service) => service)))
)

const host: CaseHost = ({ root, state }, approver) =>
  Host.layer({ dialect: openai, plugins: [use(openaiTools)] }).pipe(
    Layer.provide(
      Layer.mergeAll(
        nodeWorkspace({ root, state, durable: false }),
        memoryJournal(),
        memoryArtifacts(),
        memoryState(),
        approver,
        processes,
        noSandbox()
      )
    )
  )

describe.each(openaiTools.tools.map(({ name }) => name))("%s", (tool) => {
  it.each(loadCases(contracts, "openai", [tool]))("$name", async (contractCase) => {
    await expect(playCase(contractCase, host)).resolves.toHaveProperty("wire")
  })
})
