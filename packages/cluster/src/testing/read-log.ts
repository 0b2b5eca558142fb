import * as Effect from "effect/Effect"

import { membership } from "../members/membership.ts"
import { databaseBlobs } from "../storage/blob-store.ts"
import { commitLog } from "../storage/commit-log.ts"
import { openDatabase } from "../storage/database.ts"

/** The log of one workspace, for tests that compare files and replies with it. */
export interface ReadLog {
  readonly commits: ReadonlyArray<{ readonly seq: bigint; readonly epoch: bigint; readonly requestId: string }>
  /** SHA-256 of each file, by path. */
  readonly files: ReadonlyMap<string, string>
  /** The address of the owner. */
  readonly owner?: string
}

/** Reads the commit log of a workspace, and what the files are according to it. */
export const readLog = (url: string, workspace: string): Promise<ReadLog> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const database = yield* openDatabase({ url, timeoutMs: 30_000 })
        const rows = yield* database.query<{ seq: string; epoch: string; request_id: string }>(
          "SELECT seq, epoch, request_id FROM haft.commit WHERE workspace = $1 ORDER BY seq",
          [workspace]
        )
        const { manifest } = yield* commitLog(database, databaseBlobs(database)).load(workspace)
        const placement = yield* membership(database).find(workspace)
        const files = [...manifest].flatMap(([path, entry]) =>
          entry.kind === "file" ? [[path, entry.sha256] as const] : []
        )
        return {
          commits: rows.map(({ seq, epoch, request_id: requestId }) => ({
            seq: BigInt(seq),
            epoch: BigInt(epoch),
            requestId
          })),
          files: new Map(files),
          ...(placement?.address !== undefined && { owner: placement.address })
        }
      })
    )
  )
