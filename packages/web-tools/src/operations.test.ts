import { definePlugin, Host, memoryArtifacts, memoryJournal, memoryState, refuseCommands, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace } from "@haft/node"
import { scriptedApprover, temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import * as z from "zod"

import { fetchPage, fetchTouches, webServices } from "./operations.ts"

const peek = haft.tool({
  name: "peek",
  description: "Fetch a page.",
  input: z.strictObject({ url: z.string().describe("Address") }),
  output: z.object({ text: z.string() }),
  risk: "dangerous",
  touches: fetchTouches,
  execute: ({ url }) => Effect.map(fetchPage({ url, timeoutMs: 5000 }), ({ text }) => ({ text }))
})

it("operations make a tool of another plugin, with the same address policy", async () => {
  const workspace = temporaryWorkspace()
  const plugin = definePlugin({ name: "peek", version: "1.0.0", tools: [peek], layer: () => webServices() })
  const services = Layer.mergeAll(
    nodeWorkspace({ root: workspace.root, state: workspace.state }),
    nodeProcesses,
    refuseCommands,
    memoryState(),
    memoryJournal(),
    memoryArtifacts(),
    scriptedApprover().layer
  )
  const host = await openHost(Host.layer({ dialect: haft, plugins: [use(plugin)] }).pipe(Layer.provide(services)))
  const { error } = await host.call("peek", { url: "http://127.0.0.1:1/" })
  expect(error?.code).toBe("url_blocked")
  await host.dispose()
  workspace.remove()
})
