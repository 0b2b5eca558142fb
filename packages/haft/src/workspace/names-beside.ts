import { posix, resolve } from "node:path"

import { Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import * as Effect from "effect/Effect"

/** Paths in the directory of a path that is not there, for a hint. None where that directory can't be read. */
export const pathsBeside = (root: string, path: string): Promise<ReadonlyArray<string>> => {
  const directory = posix.dirname(path)
  const names = Workspace.use((workspace) => workspace.list(directory)).pipe(
    Effect.map((entries) => entries.map(({ name }) => posix.join(directory, name))),
    Effect.catch(() => Effect.succeed([]))
  )
  return Effect.runPromise(Effect.provide(names, nodeWorkspace({ root: resolve(root) })))
}
