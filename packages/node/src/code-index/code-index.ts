import { CodeIndex, type CodeIndexService, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { SqliteIndex } from "./sqlite-index.ts"

export interface SqliteCodeIndexOptions {
  /** The state directory of the workspace: outside of it, and the same for all hosts of the workspace. */
  readonly directory: string
  /** Files that are indexed at most; 200,000 by default. */
  readonly maxFiles?: number
  /** Bytes that the index takes at most; 1 GiB by default. */
  readonly maxBytes?: number
  /** How long one call builds before it answers from what is there; 30 s by default. */
  readonly buildTimeMs?: number
  /** Use installed grammars; true by default. Without, files are indexed by windows of lines. */
  readonly grammars?: boolean
}

/**
 * A code index in an SQLite FTS5 file of the state directory. It is loaded, opened and built at the first query, and
 * refreshed before every other one: after a commit of this host only the changed paths, now and then all files by stat.
 */
export const sqliteCodeIndex = (options: SqliteCodeIndexOptions): Layer.Layer<never, never, Workspace> =>
  Layer.effect(
    CodeIndex,
    Effect.gen(function* () {
      const workspace = yield* Workspace
      let opened: Promise<SqliteIndex> | undefined
      // Most hosts never search code, so they don't load what that takes.
      const open = async (): Promise<SqliteIndex> => {
        const { SqliteIndex } = await import("./sqlite-index.ts")
        return new SqliteIndex(workspace, options)
      }
      const index = Effect.map(
        Effect.promise(() => (opened ??= open())),
        ({ service }) => service
      )
      yield* Effect.addFinalizer(() => Effect.promise(async () => (await opened)?.close()))
      const service: CodeIndexService = {
        search: (query) => Effect.flatMap(index, (loaded) => loaded.search(query)),
        outline: (scope) => Effect.flatMap(index, (loaded) => loaded.outline(scope)),
        definitions: (query) => Effect.flatMap(index, (loaded) => loaded.definitions(query)),
        references: (query) => Effect.flatMap(index, (loaded) => loaded.references(query)),
        status: Effect.flatMap(index, (loaded) => loaded.status)
      }
      return service
    })
  )
