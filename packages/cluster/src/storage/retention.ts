import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"

import * as Effect from "effect/Effect"

import type { Database } from "./database.ts"

export interface Retention {
  /** Days that commits before the last checkpoint, replies and audit logs are kept; 7 by default. */
  readonly days?: number
}

/** Contents that were stored within this time may belong to a commit that is not there yet. */
const graceHours = 24

/**
 * Removes what no restore needs any longer: commits and checkpoints before a newer checkpoint, replies, audit logs and
 * contents that nothing names. A request that is sent again after that is a new one.
 */
export const prune = ({ query }: Database, { days = 7 }: Retention = {}, blobs?: string) =>
  Effect.gen(function* () {
    const age = `${days} days`
    yield* query(
      `DELETE FROM haft.checkpoint c WHERE c.at < clock_timestamp() - $1::interval
       AND EXISTS (SELECT 1 FROM haft.checkpoint n WHERE n.workspace = c.workspace AND n.seq > c.seq)`,
      [age]
    )
    yield* query(
      `DELETE FROM haft.commit c WHERE c.at < clock_timestamp() - $1::interval
       AND c.seq <= (SELECT min(k.seq) FROM haft.checkpoint k WHERE k.workspace = c.workspace)`,
      [age]
    )
    yield* query("DELETE FROM haft.call WHERE at < clock_timestamp() - $1::interval", [age])
    yield* query("DELETE FROM haft.record WHERE at < clock_timestamp() - $1::interval", [age])
    const unused = yield* query<{ sha256: string }>(
      `DELETE FROM haft.blob b WHERE b.used < clock_timestamp() - $1::interval AND ${isUnused("b.sha256")} RETURNING sha256`,
      [`${graceHours} hours`]
    )
    return unused.length + (blobs === undefined ? 0 : yield* pruneDirectory(query, blobs))
  })

const isUnused = (sha256: string): string => `
  NOT EXISTS (SELECT 1 FROM haft.commit c WHERE c.changes @> jsonb_build_array(jsonb_build_object('entry', jsonb_build_object('sha256', ${sha256}))))
  AND NOT EXISTS (SELECT 1 FROM haft.checkpoint k, jsonb_array_elements(k.manifest) e WHERE e -> 1 ->> 'sha256' = ${sha256})`

const pruneDirectory = Effect.fnUntraced(function* (query: Database["query"], directory: string) {
  const old = yield* Effect.promise(() => olderThan(directory, Date.now() - graceHours * 3_600_000))
  let removed = 0
  for (const { sha256, file } of old) {
    const [row] = yield* query<{ unused: boolean }>(`SELECT ${isUnused("$1::text")} AS unused`, [sha256])
    if (row?.unused !== true) continue
    yield* Effect.promise(() => rm(file, { force: true }))
    removed++
  }
  return removed
})

const olderThan = async (
  directory: string,
  time: number
): Promise<ReadonlyArray<{ readonly sha256: string; readonly file: string }>> => {
  const found: Array<{ readonly sha256: string; readonly file: string }> = []
  for (const prefix of await readdir(directory).catch((): Array<string> => [])) {
    for (const name of await readdir(join(directory, prefix)).catch((): Array<string> => [])) {
      const file = join(directory, prefix, name)
      const info = await stat(file).catch(() => undefined)
      if (info !== undefined && info.mtimeMs < time) found.push({ sha256: name.slice(0, 64), file })
    }
  }
  return found
}
