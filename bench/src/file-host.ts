import {
  type Approver,
  Approver as ApproverService,
  type Dialect,
  Host,
  memoryArtifacts,
  memoryJournal,
  use
} from "@haft/core"
import { openHost } from "@haft/core/promise"
import { fsTools } from "@haft/fs-tools"
import { nodeWorkspace } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A host with the file tools of a dialect, which allows every call. */
export const openFileHost = async (
  dialect: Dialect,
  options: { readonly root: string; readonly state: string; readonly durable?: boolean }
) => {
  const host = await openHost(
    Host.layer({ dialect, plugins: [use(fsTools)] }).pipe(
      Layer.provide(Layer.mergeAll(nodeWorkspace(options), memoryJournal(), memoryArtifacts(), allowAll))
    )
  )
  return {
    call: async (tool: string, params: unknown) => (await host.call(tool, params)).wire,
    dispose: () => host.dispose()
  }
}

const allowAll: Layer.Layer<Approver> = Layer.succeed(ApproverService, {
  judge: () => Effect.succeed({ decision: "allow", reason: "a benchmark" }),
  ask: () => Effect.succeed({ approved: true })
})
