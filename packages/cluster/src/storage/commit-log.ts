import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

import { type BlobStore, databaseBlobs, smallBytes } from "./blob-store.ts"
import { type Database, DatabaseError } from "./database.ts"
import { applyChanges, type ManifestEntry, type LoggedChange, type Manifest } from "./manifest.ts"

/** A write of a member that no longer owns the workspace. Nothing was written. */
export class Fenced extends Data.TaggedError("Fenced")<{ readonly workspace: string; readonly epoch: string }> {
  override get message(): string {
    return `workspace '${this.workspace}' has a new owner; nothing was changed`
  }
}

/** A commit that an earlier attempt of the same request has made. */
export class AlreadyCommitted extends Data.TaggedError("AlreadyCommitted")<{ readonly requestId: string }> {}

export interface LoggedCommit {
  readonly requestId: string
  /** Counts the commits of one request from 0. */
  readonly part: number
  readonly changes: ReadonlyArray<LoggedChange>
  /** New contents by SHA-256. */
  readonly contents: ReadonlyMap<string, Uint8Array>
}

/** A workspace as the log has it. */
export interface LoggedState {
  readonly seq: bigint
  readonly manifest: Manifest
  /** Commits since the last checkpoint; undefined for a workspace that was never imported. */
  readonly sinceCheckpoint: number | undefined
  /** Paths that stayed with earlier owners. */
  readonly notCarried: ReadonlyArray<string>
}

/** Ownership of a workspace at one moment. The epoch is a decimal string: PostgreSQL's bigint does not fit a number. */
export interface Ownership {
  readonly workspace: string
  readonly epoch: string
}

/** The commit log of a cluster. A commit happens when its row is inserted, and only the owner's epoch can insert it. */
export interface CommitLog {
  readonly append: (
    owned: Ownership,
    commit: LoggedCommit
  ) => Effect.Effect<bigint, DatabaseError | Fenced | AlreadyCommitted>
  /**
   * Finds out whether a commit whose answer was lost has been made, and gives the owner a new epoch: with the old one a
   * statement that is still on its way would be executed later.
   */
  readonly settle: (
    owned: Ownership,
    commit: Pick<LoggedCommit, "requestId" | "part">
  ) => Effect.Effect<{ readonly epoch: string; readonly seq: bigint | undefined }, DatabaseError | Fenced>
  readonly load: (workspace: string) => Effect.Effect<LoggedState, DatabaseError>
  readonly checkpoint: (
    owned: Ownership,
    state: Pick<LoggedState, "seq" | "manifest">
  ) => Effect.Effect<void, DatabaseError | Fenced>
  readonly content: (sha256: string) => Effect.Effect<Uint8Array, DatabaseError>
  /** Stores contents that are too large for the statement that commits them. */
  readonly store: (contents: ReadonlyMap<string, Uint8Array>) => Effect.Effect<void, DatabaseError>
  /** Stores one content, of any size. */
  readonly put: (sha256: string, content: Uint8Array) => Effect.Effect<void, DatabaseError>
  readonly maximumBytes: number
}

const uniqueViolation = "23505"

export const commitLog = (database: Database, blobs: BlobStore): CommitLog => {
  const { query } = database
  const small = databaseBlobs(database)
  const fence = (owned: Ownership, rows: number): Effect.Effect<void, Fenced> =>
    rows === 0 ? Effect.fail(new Fenced(owned)) : Effect.void
  return {
    maximumBytes: blobs.maximum,
    // One statement: the row lock of the UPDATE makes a take-over wait, or the UPDATE wait for the take-over and then
    // find another epoch. So the old owner's commit is before the new owner's first read, or not at all.
    append: (owned, { requestId, part, changes, contents }) =>
      Effect.gen(function* () {
        const inRow = [...contents].filter(([, content]) => content.length <= smallBytes)
        const rows = yield* query<{ seq: string }>(appendStatement, [
          owned.workspace,
          owned.epoch,
          requestId,
          part,
          JSON.stringify(changes),
          inRow.map(([sha256]) => sha256),
          inRow.map(([, content]) => content)
        ]).pipe(
          Effect.catchIf(
            ({ state }) => state === uniqueViolation,
            () => Effect.fail(new AlreadyCommitted({ requestId }))
          )
        )
        yield* fence(owned, rows.length)
        return BigInt(rows[0]?.seq ?? 0)
      }),
    settle: (owned, { requestId, part }) =>
      Effect.gen(function* () {
        const bumped = yield* query<{ epoch: string }>(
          "UPDATE haft.workspace SET epoch = epoch + 1 WHERE name = $1 AND epoch = $2 RETURNING epoch",
          [owned.workspace, owned.epoch]
        )
        yield* fence(owned, bumped.length)
        const [found] = yield* query<{ seq: string }>(
          "SELECT seq FROM haft.commit WHERE workspace = $1 AND request_id = $2 AND part = $3",
          [owned.workspace, requestId, part]
        )
        return { epoch: bumped[0]?.epoch ?? owned.epoch, seq: found === undefined ? undefined : BigInt(found.seq) }
      }),
    load: (workspace) =>
      Effect.gen(function* () {
        const [last] = yield* query<{ seq: string; manifest: ReadonlyArray<readonly [string, ManifestEntry]> }>(
          "SELECT seq, manifest FROM haft.checkpoint WHERE workspace = $1 ORDER BY seq DESC LIMIT 1",
          [workspace]
        )
        const [described] = yield* query<{ not_carried: ReadonlyArray<string> }>(
          "SELECT not_carried FROM haft.workspace WHERE name = $1",
          [workspace]
        )
        const notCarried = described?.not_carried ?? []
        const manifest: Manifest = new Map(last?.manifest ?? [])
        let seq = BigInt(last?.seq ?? 0)
        let sinceCheckpoint = last === undefined ? undefined : 0
        for (;;) {
          const page = yield* query<{ seq: string; changes: ReadonlyArray<LoggedChange> }>(
            "SELECT seq, changes FROM haft.commit WHERE workspace = $1 AND seq > $2 ORDER BY seq LIMIT 500",
            [workspace, seq]
          )
          for (const row of page) {
            if (BigInt(row.seq) !== seq + 1n) return yield* gap(workspace, seq + 1n)
            applyChanges(manifest, row.changes)
            seq += 1n
          }
          sinceCheckpoint = sinceCheckpoint === undefined ? undefined : sinceCheckpoint + page.length
          if (page.length < 500) return { seq, manifest, sinceCheckpoint, notCarried }
        }
      }),
    checkpoint: (owned, { seq, manifest }) =>
      Effect.gen(function* () {
        const rows = yield* query(
          `WITH fenced AS (SELECT name FROM haft.workspace WHERE name = $1 AND epoch = $2 FOR SHARE)
           INSERT INTO haft.checkpoint (workspace, seq, manifest) SELECT $1, $3, $4::jsonb FROM fenced
           ON CONFLICT (workspace, seq) DO UPDATE SET manifest = EXCLUDED.manifest RETURNING seq`,
          [owned.workspace, owned.epoch, seq, JSON.stringify([...manifest])]
        )
        yield* fence(owned, rows.length)
      }),
    content: (sha256) =>
      Effect.gen(function* () {
        const content = (yield* small.get(sha256)) ?? (yield* blobs.get(sha256))
        if (content !== undefined) return content
        return yield* new DatabaseError({
          problem: `lacks content ${sha256}: has the blob store been changed or pruned by hand?`,
          isUncertain: false
        })
      }),
    put: (sha256, content) => (content.length > smallBytes ? blobs : small).put(sha256, content),
    store: (contents) =>
      Effect.forEach(
        [...contents].filter(([, content]) => content.length > smallBytes),
        ([sha256, content]) => blobs.put(sha256, content),
        { discard: true, concurrency: 4 }
      )
  }
}

const gap = (workspace: string, seq: bigint): Effect.Effect<never, DatabaseError> =>
  Effect.fail(
    new DatabaseError({
      problem: `lacks commit ${seq} of workspace '${workspace}': restore it from a backup`,
      isUncertain: false
    })
  )

const appendStatement = `
  WITH fenced AS (
    UPDATE haft.workspace SET seq = seq + 1, used = clock_timestamp() WHERE name = $1 AND epoch = $2 RETURNING seq
  ), stored AS (
    INSERT INTO haft.blob (sha256, content) SELECT * FROM unnest($6::text[], $7::bytea[])
    ON CONFLICT (sha256) DO UPDATE SET used = clock_timestamp()
  )
  INSERT INTO haft.commit (workspace, seq, epoch, request_id, part, changes)
  SELECT $1, seq, $2, $3, $4, $5::jsonb FROM fenced RETURNING seq`
