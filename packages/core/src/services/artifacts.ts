import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { type ToolError, toolError } from "../tool-error.ts"

/** A file that grows while a call runs. Writing is synchronous, so that a flood needs no queue. */
export interface ArtifactWriter {
  readonly path: string
  readonly write: (chunk: Uint8Array) => void
  /** Bytes that were offered but fell beyond the cap. */
  readonly dropped: () => number
}

/** Store of files that calls leave for people: patches, output, recordings. Never inside the workspace. */
export class Artifacts extends Context.Service<
  Artifacts,
  {
    /** Keeps a whole file under `path`, relative to the run: `diffs/step_0001.patch`. Returns that path. */
    readonly save: (path: string, content: string | Uint8Array) => Effect.Effect<string, ToolError<"write_failed">>
    /** Opens a file that is written piece by piece and closed with the scope. */
    readonly create: (
      path: string,
      options?: { readonly capBytes?: number }
    ) => Effect.Effect<ArtifactWriter, ToolError<"write_failed">, Scope.Scope>
    readonly read: (path: string) => Effect.Effect<Uint8Array, ToolError<"file_not_found">>
  }
>()("@haft/core/Artifacts") {}

/** Artifacts in memory, for tests and for hosts that keep nothing. */
export const memoryArtifacts = (files: Map<string, Uint8Array> = new Map()): Layer.Layer<Artifacts> =>
  Layer.succeed(Artifacts, {
    save: (path, content) =>
      Effect.sync(() => {
        files.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content)
        return path
      }),
    create: (path, options) =>
      Effect.sync(() => {
        const cap = options?.capBytes ?? Number.POSITIVE_INFINITY
        let dropped = 0
        files.set(path, new Uint8Array())
        return {
          path,
          write: (chunk) => {
            const before = files.get(path) ?? new Uint8Array()
            const kept = chunk.subarray(0, Math.max(0, cap - before.length))
            dropped += chunk.length - kept.length
            const after = new Uint8Array(before.length + kept.length)
            after.set(before)
            after.set(kept, before.length)
            files.set(path, after)
          },
          dropped: () => dropped
        }
      }),
    read: (path) => {
      const found = files.get(path)
      return found === undefined ? toolError("file_not_found", `no artifact ${path}`) : Effect.succeed(found)
    }
  })
