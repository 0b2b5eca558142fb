import { type CommitError, Workspace, singleLine } from "@haft/core"
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

/** A line for each, since directories have no diff. Fails where making them would. */
export const previewDirectory = Effect.fnUntraced(function* (
  given: string
): Effect.fn.Return<string, CommitError, Workspace> {
  const workspace = yield* Workspace
  const changes = yield* workspace.previewCommit([{ kind: "create_directory", path: given }])
  return changes.map(({ path }) => `created ${singleLine(path)}/\n`).join("")
})
