import { randomUUID } from "node:crypto"
import { statSync } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"

import { StateError, StateFiles, type StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"

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
    new StateError({ name, problem: `can't be used: ${problemOf(cause)}` })
  const within = <A>(name: string, work: (path: string) => Promise<A>): Effect.Effect<A, StateError> =>
    Effect.flatMap(placeOf(name), (path) => Effect.tryPromise({ try: () => work(path), catch: failure(name) }))

  return {
    read: (name) => within(name, (path) => fs.readFile(path).catch(absentAs(undefined))),
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
            (release) => Effect.promise(release)
          )
        )
      })
  }
}

const versionOf = (path: string): string => {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false })
  return info === undefined ? "absent" : `${info.ino}-${info.size}-${info.mtimeNs}`
}

const isPlainName = (name: string): boolean => name.split("/").every((part) => /^[\w-][\w.-]*$/.test(part))

const problemOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code

const absentAs =
  <A>(value: A) =>
  (cause: unknown): A => {
    if (hasCode(cause, "ENOENT")) return value
    throw cause
  }

const replaceFile = async (path: string, content: Uint8Array): Promise<void> => {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await fs.open(temporary, "wx", 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await fs.rename(temporary, path)
  } catch (cause) {
    await fs.rm(temporary, { force: true })
    throw cause
  }
}

// A lock is a file with its owner's process id in it.
const holdLock = async (path: string): Promise<() => Promise<void>> => {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const lock = `${path}.lock`
  const mark = `${process.pid} ${randomUUID()}`
  try {
    await fs.writeFile(lock, mark, { flag: "wx", mode: 0o600 })
  } catch (cause) {
    if (hasCode(cause, "EEXIST")) await breakLockOfTheDead(lock)
    throw cause
  }
  return async () => {
    const held = await fs.readFile(lock, "utf8").catch(absentAs(""))
    if (held === mark) await fs.rm(lock, { force: true })
  }
}

// Moved aside first and looked at again: if somebody else was quicker and it is a living lock by now, it goes back.
const breakLockOfTheDead = async (lock: string): Promise<void> => {
  const held = await fs.readFile(lock, "utf8").catch(absentAs(""))
  if (await isAlive(lock, held)) return
  const aside = `${lock}.${randomUUID()}`
  await fs.rename(lock, aside).catch(absentAs(undefined))
  const moved = await fs.readFile(aside, "utf8").catch(absentAs(held))
  if (moved !== held) await fs.link(aside, lock)
  await fs.rm(aside, { force: true })
}

const isAlive = async (lock: string, held: string): Promise<boolean> => {
  const owner = Number(held.split(" ")[0])
  if (held !== "" && Number.isSafeInteger(owner)) return isRunning(owner)
  // Nobody has signed it: its owner is about to, or died before it could.
  const age = await fs.stat(lock).then(({ mtimeMs }) => Date.now() - mtimeMs, absentAs(0))
  return age < 10_000
}

const isRunning = (id: number): boolean => {
  try {
    process.kill(id, 0)
    return true
  } catch (cause) {
    return !hasCode(cause, "ESRCH")
  }
}
