import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

import type { Database } from "./database.ts"

/** A database whose schema this version of the package can't use. */
export class SchemaError extends Data.TaggedError("SchemaError")<{ readonly problem: string }> {
  override get message(): string {
    return this.problem
  }
}

/** Steps of the schema, the first is version 1. A step that was released is never changed, only followed by another. */
const migrations: ReadonlyArray<string> = [
  `
  CREATE TABLE haft.member (
    id text PRIMARY KEY,
    address text NOT NULL,
    url text NOT NULL,
    version text NOT NULL,
    state text NOT NULL DEFAULT 'active',
    serves text[] NOT NULL,
    lag bigint NOT NULL DEFAULT 0,
    started timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL
  );
  CREATE TABLE haft.workspace (
    name text PRIMARY KEY,
    epoch bigint NOT NULL,
    owner text,
    move_to text,
    seq bigint NOT NULL DEFAULT 0,
    not_carried jsonb NOT NULL DEFAULT '[]',
    used timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX ON haft.workspace (owner);
  CREATE TABLE haft.commit (
    workspace text NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    request_id text NOT NULL,
    part integer NOT NULL,
    changes jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, seq),
    UNIQUE (workspace, request_id, part)
  );
  CREATE TABLE haft.checkpoint (
    workspace text NOT NULL,
    seq bigint NOT NULL,
    manifest jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, seq)
  );
  CREATE TABLE haft.blob (
    sha256 text PRIMARY KEY,
    content bytea NOT NULL,
    used timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TABLE haft.call (
    workspace text NOT NULL,
    request_id text NOT NULL,
    epoch bigint NOT NULL,
    tool text NOT NULL,
    is_outside boolean NOT NULL,
    reply jsonb,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, request_id)
  );
  CREATE INDEX ON haft.call (at);
  CREATE TABLE haft.document (
    scope text NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (scope, name)
  );
  CREATE SEQUENCE haft.document_version;
  CREATE TABLE haft.record (
    workspace text NOT NULL,
    run text NOT NULL,
    file text NOT NULL,
    start bigint NOT NULL,
    content bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, run, file, start)
  );
  `
]

export const schemaVersion = migrations.length

/** Brings the schema up to date. Members that start together wait for each other; a newer schema is refused. */
export const migrate = (database: Database) =>
  database.transaction((query) =>
    Effect.gen(function* () {
      yield* query("SELECT pg_advisory_xact_lock(hashtext('haft.migration'))")
      yield* query("CREATE SCHEMA IF NOT EXISTS haft")
      yield* query(
        "CREATE TABLE IF NOT EXISTS haft.migration (version integer PRIMARY KEY, at timestamptz DEFAULT now())"
      )
      const [found] = yield* query<{ version: number | null }>("SELECT max(version) AS version FROM haft.migration")
      const current = found?.version ?? 0
      if (current > schemaVersion) {
        return yield* new SchemaError({
          problem:
            `the cluster's database has schema version ${current}, this haft knows ${schemaVersion}: ` +
            "start a haft at least as new as the other members"
        })
      }
      for (const [index, step] of migrations.entries()) {
        if (index < current) continue
        yield* query(step)
        yield* query("INSERT INTO haft.migration (version) VALUES ($1)", [index + 1])
      }
      return current
    })
  )
