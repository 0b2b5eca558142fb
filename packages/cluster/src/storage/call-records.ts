import * as Effect from "effect/Effect"

import { Fenced, type Ownership } from "./commit-log.ts"
import type { Database, DatabaseError } from "./database.ts"

/** An earlier call with the same request id, as far as it is known. */
export type EarlierCall =
  | { readonly kind: "none" }
  /** It ended, and this was its reply. */
  | { readonly kind: "replied"; readonly reply: unknown }
  /** Its file changes are in the log; the reply was lost. */
  | { readonly kind: "committed"; readonly seq: string; readonly paths: ReadonlyArray<string> }
  /** It began to have effects outside of files, and nobody knows how far it came. */
  | { readonly kind: "unknown" }

/** The calls of a cluster by request id. */
export interface CallRecords {
  readonly find: (workspace: string, requestId: string) => Effect.Effect<EarlierCall, DatabaseError>
  /** Records that a call begins to have effects outside of files. False when an earlier one with this id has. */
  readonly claim: (owned: Ownership, requestId: string, tool: string) => Effect.Effect<boolean, DatabaseError | Fenced>
  /** Records a reply, so that a request that is sent again gets the same one. */
  readonly finish: (
    owned: Ownership,
    call: { readonly requestId: string; readonly tool: string; readonly isOutside: boolean; readonly reply: unknown }
  ) => Effect.Effect<void, DatabaseError>
}

export const callRecords = ({ query }: Database): CallRecords => ({
  find: (workspace, requestId) =>
    Effect.map(
      query<{ reply: unknown; is_outside: boolean | null; seq: string | null; paths: ReadonlyArray<string> | null }>(
        `SELECT c.reply, c.is_outside, m.seq, m.paths FROM (SELECT 1) AS one
         LEFT JOIN haft.call c ON c.workspace = $1 AND c.request_id = $2
         LEFT JOIN (SELECT seq, jsonb_path_query_array(changes, '$[*].path') AS paths FROM haft.commit
                    WHERE workspace = $1 AND request_id = $2 AND part = 0) m ON true`,
        [workspace, requestId]
      ),
      ([row]): EarlierCall => {
        if (row === undefined) return { kind: "none" }
        if (row.reply !== null) return { kind: "replied", reply: row.reply }
        if (row.is_outside === true) return { kind: "unknown" }
        return row.seq === null ? { kind: "none" } : { kind: "committed", seq: row.seq, paths: row.paths ?? [] }
      }
    ),
  claim: (owned, requestId, tool) =>
    Effect.gen(function* () {
      const [row] = yield* query<{ owned: boolean; claimed: boolean }>(
        `WITH fenced AS (SELECT name FROM haft.workspace WHERE name = $1 AND epoch = $2 FOR SHARE),
              claimed AS (INSERT INTO haft.call (workspace, request_id, epoch, tool, is_outside)
                          SELECT $1, $3, $2, $4, true FROM fenced ON CONFLICT DO NOTHING RETURNING request_id)
         SELECT EXISTS (SELECT 1 FROM fenced) AS owned, EXISTS (SELECT 1 FROM claimed) AS claimed`,
        [owned.workspace, owned.epoch, requestId, tool]
      )
      if (row?.owned !== true) return yield* new Fenced(owned)
      return row.claimed
    }),
  finish: (owned, { requestId, tool, isOutside, reply }) =>
    Effect.asVoid(
      query(
        `INSERT INTO haft.call (workspace, request_id, epoch, tool, is_outside, reply) VALUES ($1, $2, $3, $4, $5, $6::jsonb)
         ON CONFLICT (workspace, request_id) DO UPDATE SET reply = EXCLUDED.reply WHERE haft.call.reply IS NULL`,
        [owned.workspace, requestId, owned.epoch, tool, isOutside, JSON.stringify(reply)]
      )
    )
})
