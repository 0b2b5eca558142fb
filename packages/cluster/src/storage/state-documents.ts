import { StateError, type StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

import type { Database, DatabaseError, Query } from "./database.ts"

export interface StateDocumentsOptions {
  /** Whose documents: the name of a workspace, or empty for those of the whole cluster. */
  readonly scope: string
  /** Milliseconds that a version counts as current without asking. */
  readonly cacheMs: number
  /** Milliseconds that a version is good for beyond that, while the database can't be reached; 0 by default. */
  readonly staleMs?: number
}

/** Documents such as rules and tokens in the database, the same for all members. */
export const stateDocuments = (
  database: Database,
  { scope, cacheMs, staleMs = 0 }: StateDocumentsOptions
): StateFilesService => {
  const locks = new Map<string, Semaphore.Semaphore>()
  const versions = new Map<string, { readonly version: string; readonly until: number }>()
  const contents = new Map<string, Uint8Array | undefined>()
  const isGoodEnough = (name: string): boolean => (versions.get(name)?.until ?? -Infinity) + staleMs > performance.now()
  const remember = (name: string, version: string): string => {
    versions.set(name, { version, until: performance.now() + cacheMs })
    return version
  }
  const versionOf = (query: Query, name: string) =>
    Effect.map(
      query<{ version: string }>("SELECT version FROM haft.document WHERE scope = $1 AND name = $2", [scope, name]),
      ([row]) => remember(name, row?.version ?? "absent")
    )
  const lockOf = (name: string): Semaphore.Semaphore => {
    const lock = locks.get(name) ?? Semaphore.makeUnsafe(1)
    locks.set(name, lock)
    return lock
  }
  return {
    read: (name) =>
      inState(
        name,
        Effect.map(
          database.query<{ content: Uint8Array; version: string }>(
            "SELECT content, version FROM haft.document WHERE scope = $1 AND name = $2",
            [scope, name]
          ),
          ([row]) => {
            remember(name, row?.version ?? "absent")
            contents.set(name, row?.content)
            return row?.content
          }
        )
      ).pipe(
        Effect.catch((error) =>
          contents.has(name) && isGoodEnough(name) ? Effect.succeed(contents.get(name)) : Effect.fail(error)
        )
      ),
    write: (name, content) =>
      inState(
        name,
        Effect.map(
          database.query<{ version: string }>(
            `INSERT INTO haft.document (scope, name, version, content) VALUES ($1, $2, nextval('haft.document_version'), $3)
             ON CONFLICT (scope, name) DO UPDATE SET version = EXCLUDED.version, content = EXCLUDED.content
             RETURNING version`,
            [scope, name, content]
          ),
          ([row]) => {
            contents.set(name, content)
            return remember(name, row?.version ?? "absent")
          }
        )
      ),
    remove: (name) =>
      inState(
        name,
        Effect.map(database.query("DELETE FROM haft.document WHERE scope = $1 AND name = $2", [scope, name]), () => {
          versions.delete(name)
          contents.delete(name)
        })
      ),
    version: (name) =>
      Effect.suspend(() => {
        const known = versions.get(name)
        if (known !== undefined && known.until > performance.now()) return Effect.succeed(known.version)
        return inState(name, versionOf(database.query, name)).pipe(
          Effect.catch((error) =>
            known !== undefined && isGoodEnough(name) ? Effect.succeed(known.version) : Effect.fail(error)
          )
        )
      }),
    // An advisory lock for other members, and one of this process, so that its own callers don't take up connections.
    exclusively: (name, use) =>
      lockOf(name).withPermits(1)(
        Effect.gen(function* () {
          const held = yield* Effect.context<Effect.Services<typeof use>>()
          const done = yield* inState(
            name,
            database.transaction((query) =>
              Effect.gen(function* () {
                yield* query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", [
                  `haft.document ${scope}`,
                  name
                ])
                yield* versionOf(query, name)
                return yield* Effect.exit(Effect.provideContext(use, held))
              })
            )
          )
          return yield* done
        })
      )
  }
}

/**
 * The documents of a workspace with its own path in them. Rules name the directory of their workspace, which every member
 * has elsewhere; the database has `cluster:NAME` in its place.
 */
export const withLocalPaths = (
  documents: StateFilesService,
  { workspace, root }: { readonly workspace: string; readonly root: string }
): StateFilesService => {
  const [local, shared] = [JSON.stringify(root), JSON.stringify(`cluster:${workspace}`)]
  const replaced = (content: Uint8Array, from: string, to: string): Uint8Array =>
    new TextEncoder().encode(new TextDecoder().decode(content).replaceAll(from, to))
  return {
    ...documents,
    read: (name) =>
      Effect.map(documents.read(name), (content) =>
        content === undefined ? undefined : replaced(content, shared, local)
      ),
    write: (name, content) => documents.write(name, replaced(content, local, shared))
  }
}

const inState = <A>(name: string, effect: Effect.Effect<A, DatabaseError>): Effect.Effect<A, StateError> =>
  Effect.mapError(effect, ({ message }) => new StateError({ name, problem: `can't be used: ${message}` }))
