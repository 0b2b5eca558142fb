import type { ToolDescription } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import { workspaceDirectory } from "@haft/node"
import * as Effect from "effect/Effect"

import type { HaftConfig } from "./config.ts"
import { rootOf, stateOf } from "./standard-host.ts"

/** A host whose tools are known, and which is opened when somebody needs more of it. */
export interface LateHost extends Pick<OpenHost, "tools" | "call" | "dispose"> {
  /** Opens it, once; a call does so, too. */
  readonly open: () => void
  /** Rejects when it can't be opened; it never resolves. */
  readonly unusable: Promise<never>
}

/**
 * A host that is opened when it is first called, for a server that is asked for its tools before anything else. What a
 * person may have misspelt is looked at before: a directory that can't be used is told at once.
 */
export const openHostLater = async (
  config: HaftConfig,
  tools: ReadonlyArray<ToolDescription>,
  openHost: () => Promise<OpenHost>
): Promise<LateHost> => {
  workspaceDirectory(rootOf(config))
  if (config.state !== undefined) await Effect.runPromise(stateOf(config))
  const { promise: unusable, reject } = Promise.withResolvers<never>()
  unusable.catch(() => {})
  let opening: Promise<OpenHost> | undefined
  let ready: OpenHost | undefined
  const opened = (): Promise<OpenHost> => {
    if (opening === undefined) {
      opening = openHost()
      // The callers hear of it first, since the program may end when `unusable` rejects.
      opening.then(
        (host) => (ready = host),
        (cause: unknown) => setImmediate(() => reject(cause))
      )
    }
    return opening
  }
  return {
    tools,
    unusable,
    open: () => void opened(),
    call: (...call) => ready?.call(...call) ?? opened().then((host) => host.call(...call)),
    dispose: async () => (await opening?.catch(() => {}))?.dispose()
  }
}
