import { type CommitError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

export interface CreatedDirectory {
  readonly path: string
  /** Every directory that was made, the outermost first; none when it was there already. */
  readonly created: ReadonlyArray<string>
}

/** Makes a directory and those on the way to it. One that is there already is fine. */
export const createDirectory = Effect.fnUntraced(function* (
  given: string
): Effect.fn.Return<CreatedDirectory, CommitError, Workspace> {
  const workspace = yield* Workspace
  const path = yield* workspace.contain(given)
  const changes = yield* workspace.commit([{ kind: "create_directory", path: given }])
  return { path, created: changes.map((change) => change.path) }
})

/** One line, since directories have no diff. */
export const previewDirectory = Effect.fnUntraced(function* (given: string) {
  const workspace = yield* Workspace
  const path = yield* workspace.contain(given)
  return (yield* workspace.fingerprint(given)) === "absent" ? `created ${path}/\n` : ""
})
