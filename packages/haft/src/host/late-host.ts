import { type ToolDescription, toolsInProfile } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import { holdWorkspace, workspaceDirectory } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import type { HaftConfig } from "../config/config.ts"
import { rootOf, standardProfile, stateOf } from "./standard-host.ts"

/** A host whose tools are known before it is open. */
export interface LateHost extends Pick<OpenHost, "tools" | "call" | "artifacts" | "dispose"> {
  /** Opens the host, if it is not open yet. The first call does so, too. */
  readonly open: () => void
  /** Rejects when the host can't be opened; never resolves. */
  readonly unusable: Promise<never>
}

/**
 * A host that is opened by its first call, for a server that is asked for its tools long before. Directories that can't
 * be used, perhaps because they are misspelt, are refused at once.
 */
export const openHostLater = async (
  config: HaftConfig,
  tools: ReadonlyArray<ToolDescription>,
  openHost: () => Promise<OpenHost>
): Promise<LateHost> => {
  workspaceDirectory(rootOf(config))
  if (config.state !== undefined) await Effect.runPromise(stateOf(config))
  // Opened now, so that nothing that takes its place before the first call becomes the workspace.
  const release = holdWorkspace(rootOf(config))
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
    tools: toolsInProfile(tools, config.profile ?? standardProfile),
    unusable,
    open: () => void opened(),
    call: (...call) => ready?.call(...call) ?? opened().then((host) => host.call(...call)),
    artifacts: {
      // A host that is not open yet has none.
      list: (reader) => ready?.artifacts.list(reader) ?? Promise.resolve([]),
      read: (...read) => opened().then((host) => host.artifacts.read(...read))
    },
    dispose: async () => {
      await (await opening?.catch(() => {}))?.dispose()
      release()
    }
  }
}
