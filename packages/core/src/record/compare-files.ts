import * as Effect from "effect/Effect"

import type { ListError, LookError, WorkspaceService } from "../services/workspace.ts"

export interface FileDifference {
  readonly path: string
  /** Expected and not there, there and not expected, or there with other content. */
  readonly kind: "missing" | "unexpected" | "different"
}

/** Every file of a workspace with the state it is in now. Links count as themselves, `.git` is left out. */
export const filesOf = Effect.fnUntraced(function* (
  workspace: WorkspaceService
): Effect.fn.Return<ReadonlyMap<string, string>, ListError | LookError> {
  const files: Array<string> = []
  const states = new Map<string, string>()
  yield* workspace.walk(".", ({ path, name, kind }) => {
    if (name === ".git") return "skip"
    if (kind === "file") files.push(path)
    else if (kind !== "directory") states.set(path, kind)
    return "continue"
  })
  for (const path of files) states.set(path, yield* workspace.fingerprint(path))
  return states
})

/** Every file that is not as expected, sorted. */
export const compareFiles = (
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>
): ReadonlyArray<FileDifference> => {
  const paths = [...new Set([...expected.keys(), ...found.keys()])].toSorted()
  return paths.flatMap((path): ReadonlyArray<FileDifference> => {
    if (!found.has(path)) return [{ path, kind: "missing" }]
    if (!expected.has(path)) return [{ path, kind: "unexpected" }]
    return expected.get(path) === found.get(path) ? [] : [{ path, kind: "different" }]
  })
}
