import { denyAll, type Dialect, Host, Journal, use } from "@haft/core"
import { nodeProcesses, nodeWorkspace } from "@haft/node"
import { searchTools } from "@haft/search-tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

// Keeps no event: what is measured is the search.
const forgetful = Layer.sync(Journal, () => {
  let step = 0
  return { run: "bench", nextStep: () => ++step, append: () => Effect.void, subscribe: () => () => {} }
})

/** The search tools of a dialect on a directory. */
export const openSearchHost = async (dialect: Dialect, root: string) => {
  const services = Layer.mergeAll(nodeWorkspace({ root, state: `${root}-state` }), nodeProcesses, forgetful, denyAll)
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
