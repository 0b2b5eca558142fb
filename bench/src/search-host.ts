import { denyAll, type Dialect, Host, use } from "@haft/core"
import { nodeProcesses, nodeWorkspace } from "@haft/node"
import { searchTools } from "@haft/search-tools"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import { noJournal } from "./no-journal.ts"

/** A host with the search tools of a dialect. */
export const openSearchHost = async (dialect: Dialect, root: string) => {
  const services = Layer.mergeAll(nodeWorkspace({ root, state: `${root}-state` }), nodeProcesses, noJournal, denyAll)
  const runtime = ManagedRuntime.make(
    Host.layer({ dialect, plugins: [use(searchTools)] }).pipe(Layer.provide(services))
  )
  const host = await runtime.runPromise(Host.useSync((service) => service))
  return {
    dispose: () => runtime.dispose(),
    call: async (tool: string, params: unknown): Promise<unknown> => {
      const reply = await runtime.runPromise(host.call(tool, params))
      if (!reply.ok) throw new Error(reply.text)
      return reply.wire
    }
  }
}
