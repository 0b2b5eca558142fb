import { isToolError, type ReadEachError, type SymlinkPolicy, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { readPlace, repeatUntilDone } from "./content.ts"
import { type Root, withPlace } from "./paths/containment.ts"
import type { SecretFiles } from "./secrets/secret-files.ts"

/** Others get a turn after so long. */
const sliceMs = 20

export interface ReadManyOptions {
  readonly symlinks: SymlinkPolicy
  readonly maxBytes: number
  readonly secrets: SecretFiles
}

/** Reads files one after the other, all into the same memory. */
export const readEach = (
  root: Root,
  paths: ReadonlyArray<string>,
  visit: Parameters<WorkspaceService["readEach"]>[1],
  { symlinks, maxBytes, secrets }: ReadManyOptions
): Effect.Effect<void> => {
  let memory = Buffer.allocUnsafeSlow(64 * 1024)
  const allocate = (bytes: number): Buffer => {
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(bytes)
    return memory.subarray(0, bytes)
  }
  const read = (path: string): Uint8Array | ReadEachError => {
    try {
      return withPlace(root, path, { symlinks }, (place) => {
        secrets.check(place)
        return readPlace(root, place, { maxBytes, allocate })
      })
    } catch (error) {
      if (isToolError(error)) return error as ReadEachError
      throw error
    }
  }
  let visited = 0
  const slice = Effect.sync(() => {
    const until = performance.now() + sliceMs
    for (const path of paths.slice(visited)) {
      visited++
      if (!visit(path, read(path))) return true
      if (performance.now() > until) return false
    }
    return true
  })
  return repeatUntilDone(root.reads.shared(slice))
}
