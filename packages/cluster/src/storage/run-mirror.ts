import type { Dirent } from "node:fs"
import { mkdir, open, readdir, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

import * as Effect from "effect/Effect"

import type { Database, DatabaseError } from "./database.ts"

/** Copies the audit logs and artifacts of runs to the database, so that the next owner has them, hash chains and all. */
export interface RunMirror {
  /** Copies what the files of a workspace's runs have gained since the last time. */
  readonly flush: (workspace: string, state: string) => Effect.Effect<void, DatabaseError>
  /** Writes the runs of earlier owners that this member does not have yet. */
  readonly restore: (workspace: string, state: string) => Effect.Effect<void, DatabaseError>
  /** Bytes that were not in the database when they were last looked for. */
  readonly lag: () => number
}

const pieceBytes = 256 * 1024
/** An artifact beyond this size stays with the member that made it. */
const largestFile = 16 * 1024 * 1024
const mostRuns = 50

export const runMirror = ({ query }: Database): RunMirror => {
  const sent = new Map<string, number>()
  const behind = new Map<string, number>()

  const flushFile = (workspace: string, run: string, directory: string, file: string) =>
    Effect.gen(function* () {
      const absolute = join(directory, file)
      const key = JSON.stringify([workspace, run, file])
      const size = yield* Effect.promise(() =>
        stat(absolute).then(
          (info) => info.size,
          () => 0
        )
      )
      if (size > largestFile) return
      let start = sent.get(key)
      if (start === undefined) {
        const [row] = yield* query<{ end: string | null }>(
          'SELECT max(start + length(content)) AS "end" FROM haft.record WHERE workspace = $1 AND run = $2 AND file = $3',
          [workspace, run, file]
        )
        start = Number(row?.end ?? 0)
      }
      behind.set(key, Math.max(0, size - start))
      while (start < size) {
        const content = yield* Effect.promise(() => readPiece(absolute, start ?? 0))
        if (content.length === 0) break
        yield* query(
          "INSERT INTO haft.record (workspace, run, file, start, content) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
          [workspace, run, file, start, content]
        )
        start += content.length
      }
      sent.set(key, start)
      behind.delete(key)
    })

  return {
    lag: () => [...behind.values()].reduce((sum, bytes) => sum + bytes, 0),
    flush: (workspace, state) =>
      Effect.gen(function* () {
        const runs = yield* Effect.promise(() => readdir(join(state, "runs")).catch((): Array<string> => []))
        for (const run of runs.toSorted().slice(-mostRuns)) {
          const directory = join(state, "runs", run)
          const files = yield* Effect.promise(() => filesBelow(directory))
          for (const file of files) yield* flushFile(workspace, run, directory, file)
        }
      }),
    restore: (workspace, state) =>
      Effect.gen(function* () {
        const runs = yield* query<{ run: string }>(
          "SELECT DISTINCT run FROM haft.record WHERE workspace = $1 ORDER BY run DESC LIMIT $2",
          [workspace, mostRuns]
        )
        const there = yield* Effect.promise(() => readdir(join(state, "runs")).catch((): Array<string> => []))
        for (const { run } of runs) {
          if (there.includes(run)) continue
          const pieces = yield* query<{ file: string; content: Uint8Array }>(
            "SELECT file, content FROM haft.record WHERE workspace = $1 AND run = $2 ORDER BY file, start",
            [workspace, run]
          )
          for (const [file, group] of Map.groupBy(pieces, (piece) => piece.file)) {
            const content = Buffer.concat(group.map((piece) => piece.content))
            const target = join(state, "runs", run, file)
            yield* Effect.promise(async () => {
              await mkdir(dirname(target), { recursive: true, mode: 0o700 })
              await writeFile(target, content, { mode: 0o600 })
            })
            sent.set(JSON.stringify([workspace, run, file]), content.length)
          }
        }
      })
  }
}

const readPiece = async (path: string, start: number): Promise<Uint8Array> => {
  const file = await open(path, "r")
  try {
    const buffer = Buffer.alloc(pieceBytes)
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, start)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const filesBelow = async (directory: string): Promise<ReadonlyArray<string>> => {
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch((): Array<Dirent> => [])
  return found
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(directory.length + 1))
    .toSorted()
}
