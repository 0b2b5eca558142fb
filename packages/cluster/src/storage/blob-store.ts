import { createHash, randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

import * as Effect from "effect/Effect"

import { type Database, DatabaseError } from "./database.ts"

/** Contents by their SHA-256, for what is too large for a row of the commit log. */
export interface BlobStore {
  /** Bytes of the largest content that it takes. */
  readonly maximum: number
  readonly put: (sha256: string, content: Uint8Array) => Effect.Effect<void, DatabaseError>
  readonly get: (sha256: string) => Effect.Effect<Uint8Array | undefined, DatabaseError>
}

export const sha256Of = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Contents up to this size travel in the statement that commits them. */
export const smallBytes = 64 * 1024

/** A directory that all members reach, such as a mounted volume; object storage fits behind the same interface. */
export const directoryBlobs = (directory: string): BlobStore => {
  const fileOf = (sha256: string): string => join(directory, sha256.slice(0, 2), sha256)
  return {
    maximum: 1024 * 1024 * 1024,
    put: (sha256, content) =>
      inStore(async () => {
        const file = fileOf(sha256)
        const now = new Date()
        // A blob that is used again counts as new, so that pruning leaves it.
        if (
          await utimes(file, now, now).then(
            () => true,
            () => false
          )
        )
          return
        await mkdir(dirname(file), { recursive: true })
        const incoming = `${file}.${randomUUID()}`
        await writeFile(incoming, content, { flush: true })
        await rename(incoming, file).catch((error: unknown) =>
          rm(incoming, { force: true }).then(() => Promise.reject(error))
        )
      }),
    get: (sha256) =>
      inStore(() =>
        readFile(fileOf(sha256)).catch((error: unknown) => {
          if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
          throw error
        })
      )
  }
}

/** The database itself, in a table apart from the log, for clusters without a shared directory. */
export const databaseBlobs = (database: Database): BlobStore => ({
  maximum: 16 * 1024 * 1024,
  put: (sha256, content) =>
    Effect.asVoid(
      database.query(
        "INSERT INTO haft.blob (sha256, content) VALUES ($1, $2) ON CONFLICT (sha256) DO UPDATE SET used = clock_timestamp()",
        [sha256, content]
      )
    ),
  get: (sha256) =>
    Effect.map(
      database.query<{ content: Uint8Array }>("SELECT content FROM haft.blob WHERE sha256 = $1", [sha256]),
      ([row]) => row?.content
    )
})

const inStore = <A>(work: () => Promise<A>): Effect.Effect<A, DatabaseError> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new DatabaseError({
        problem: `has a blob store that fails: ${cause instanceof Error ? cause.message : String(cause)}`,
        isUncertain: false
      })
  })
