import { randomUUID } from "node:crypto"
import { type BigIntStats, readFileSync, statSync } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"

import { reasonOf, StateError, StateFiles, type StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"

import { isErrno } from "../errno.ts"
import { takeLock } from "./lock-file.ts"

/** Keeps documents as files below `directory`, which must lie outside the workspace. */
export const fileState = (options: { readonly directory: string }): Layer.Layer<StateFiles> =>
  Layer.sync(StateFiles, () => stateIn(options.directory))

const stateIn = (directory: string): StateFilesService => {
  const locks = new Map<string, Semaphore.Semaphore>()
  const placeOf = (name: string): Effect.Effect<string, StateError> =>
    isPlainName(name)
      ? Effect.succeed(join(directory, ...name.split("/")))
      : Effect.fail(new StateError({ name, problem: "is not a name for a document" }))
  const failure = (name: string) => (cause: unknown) =>
    new StateError({ name, problem: `can't be used: ${reasonOf(cause)}` })
  const within = <A>(name: string, work: (path: string) => Promise<A>): Effect.Effect<A, StateError> =>
    Effect.flatMap(placeOf(name), (path) => Effect.tryPromise({ try: () => work(path), catch: failure(name) }))

  return {
    // Synchronous, because documents are small and a thread costs more than they do.
    read: (name) =>
      Effect.flatMap(placeOf(name), (path) => Effect.try({ try: () => contentOf(path), catch: failure(name) })),
    write: (name, content) => within(name, (path) => replaceFile(path, content)),
    remove: (name) => within(name, (path) => fs.rm(path, { force: true })),
    // Synchronous, because it is asked on every call.
    version: (name) =>
      Effect.flatMap(placeOf(name), (path) => Effect.try({ try: () => versionOf(path), catch: failure(name) })),
    exclusively: (name, use) =>
      Effect.suspend(() => {
        const lock = locks.get(name) ?? Semaphore.makeUnsafe(1)
        locks.set(name, lock)
        const file = within(name, (path) => holdLock(path)).pipe(
          Effect.retry(Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(250)]))
        )
        return lock.withPermits(1)(
          Effect.acquireUseRelease(
            file,
            () => use,
            (release) => Effect.sync(release)
          )
        )
      })
  }
}

/** More than any document has; reading more would stop the host for as long. */
const mostBytes = 64 * 2 ** 20

const contentOf = (path: string): Uint8Array | undefined => {
  try {
    const info = statSync(path)
    if (!info.isFile()) throw new Error("it is not a file")
    if (info.size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`)
    return readFileSync(path)
  } catch (cause) {
    if (isErrno(cause, "ENOENT", "ENOTDIR")) return undefined
    throw cause
  }
}

const versionOf = (path: string): string => versionIn(statSync(path, { bigint: true, throwIfNoEntry: false }))

const versionIn = (info: BigIntStats | undefined): string =>
  info === undefined ? "absent" : `${info.ino}-${info.size}-${info.mtimeNs}`

const isPlainName = (name: string): boolean => name.split("/").every((part) => /^[\w-][\w.-]*$/.test(part))

// The version is the written file's own: by the time of a look at its path another process may have replaced it.
const replaceFile = async (path: string, content: Uint8Array): Promise<string> => {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await fs.open(temporary, "wx", 0o600)
    let version: string
    try {
      await file.writeFile(content)
      await file.sync()
      version = versionIn(await file.stat({ bigint: true }))
    } finally {
      await file.close()
    }
    await fs.rename(temporary, path)
    return version
  } catch (cause) {
    await fs.rm(temporary, { force: true })
    throw cause
  }
}

const holdLock = async (path: string): Promise<() => void> => {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const release = takeLock(`${path}.lock`)
  if (release === undefined) throw new Error("somebody else holds its lock")
  return release
}
