import { resolve } from "node:path"

import { Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { findFiles } from "./find-files.ts"

export interface NewestRequest {
  /** A directory of the workspace. */
  readonly path: string
  /** Matched against paths relative to the directory. */
  readonly pattern: string
  readonly includeIgnored: boolean
  /** Keeps files by their path relative to the directory; all when absent. */
  readonly keeps?: (path: string) => boolean
}

/** Files whose times are compared; of more, those whose paths come first. */
const mostCompared = 10_000

/** Finds files by name, the most recently modified first, with absolute paths. */
export const newestFiles = Effect.fnUntraced(function* (request: NewestRequest) {
  const { path, pattern, includeIgnored, keeps = () => true } = request
  const workspace = yield* Workspace
  const start = yield* workspace.contain(path)
  const maxDepth = Number.POSITIVE_INFINITY
  const found = yield* findFiles({ path: start, pattern, includeIgnored, maxResults: mostCompared, maxDepth })
  const timed = yield* Effect.forEach(found.paths.filter(keeps), (file) => {
    const inside = start === "." ? file : `${start}/${file}`
    return workspace.info(inside).pipe(
      Effect.match({ onFailure: () => 0, onSuccess: ({ modified }) => modified }),
      Effect.map((modified) => ({ file: resolve(workspace.root, inside), modified }))
    )
  })
  const newest = timed.toSorted((one, other) => other.modified - one.modified)
  return { directory: resolve(workspace.root, start), files: newest.map(({ file }) => file), total: found.total }
})
