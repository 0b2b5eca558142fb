import * as Effect from "effect/Effect"

import type { ListError, LookError, WorkspaceService } from "../services/workspace.ts"

export interface FileDifference {
  readonly path: string
  /** Where the file is, or that it is in both with other content. */
  readonly kind: "only_in_first" | "only_in_second" | "different"
}

/** Every file that is not the same in two workspaces, sorted. `.git` is left out. */
export const compareWorkspaces = Effect.fnUntraced(function* (
  first: WorkspaceService,
  second: WorkspaceService
): Effect.fn.Return<ReadonlyArray<FileDifference>, ListError | LookError> {
  const one = yield* fingerprintsOf(first)
  const other = yield* fingerprintsOf(second)
  const paths = [...new Set([...one.keys(), ...other.keys()])].toSorted((a, b) => (a < b ? -1 : 1))
  return paths.flatMap((path): ReadonlyArray<FileDifference> => {
    if (!other.has(path)) return [{ path, kind: "only_in_first" }]
    if (!one.has(path)) return [{ path, kind: "only_in_second" }]
    return one.get(path) === other.get(path) ? [] : [{ path, kind: "different" }]
  })
})

const fingerprintsOf = Effect.fnUntraced(function* (workspace: WorkspaceService) {
  const files: Array<string> = []
  const special = new Map<string, string>()
  yield* workspace.walk(".", ({ path, name, kind }) => {
    if (name === ".git") return "skip"
    if (kind === "file") files.push(path)
    else if (kind !== "directory") special.set(path, kind)
    return "continue"
  })
  for (const path of files) special.set(path, yield* workspace.fingerprint(path))
  return special
})
