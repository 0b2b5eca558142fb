import {
  CurrentCall,
  isToolError,
  type ListError,
  reportProgress,
  type ToolError,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"

import { takeLock } from "../state/lock-file.ts"
import { fingerprintBytes } from "../workspace/content.ts"
import type { FileRow, IndexDatabase, IndexedFile } from "./database.ts"
import { fileRow, type FileStat, mostFileBytes } from "./file-row.ts"
import { isIndexable } from "./indexable.ts"
import type { Grammars, Parse } from "./languages/grammars.ts"
import { type LanguageName, languageOf } from "./languages/language.ts"

export interface RefreshOptions {
  readonly workspace: WorkspaceService
  readonly database: IndexDatabase
  readonly grammars: Grammars | undefined
  /** Path of the file that keeps other processes from doing the same work. */
  readonly lock: string
  /** Files that the index holds at most. */
  readonly maxFiles: number
  /** Bytes that the index takes at most. */
  readonly maxBytes: number
  /** When time is up, the rest is left to the next call. */
  readonly until: number
}

/** Work that a refresh left undone. */
export interface Refreshed {
  /** Files that there was no time for. */
  readonly pending: number
  /** Files that there is no room for. */
  readonly leftOut: number
}

/** Files that are read and written as one transaction. */
const batchSize = 64

/** A file younger than this may change again without changing its time stamp. */
const settledAfterMs = 2000

/** Brings the index up to date with all files of the workspace: by size and time stamp, then by hash. */
export const refreshAll = (options: RefreshOptions): Effect.Effect<Refreshed, ListError | ToolError<"search_failed">> =>
  exclusively(
    options.lock,
    Effect.gen(function* () {
      const { workspace, database, maxFiles } = options
      const { paths, total } = yield* everyFile(workspace, maxFiles)
      const known = database.files()
      const indexable = paths.filter((path) => isIndexable(path) && !workspace.isSecret(path))
      const present = new Set(indexable)
      const gone = [...known.keys()].filter((path) => !present.has(path))
      yield* removeAll(database, gone)
      const changed = yield* changedFiles(workspace, indexable, known)
      const rest = yield* indexFiles(options, changed, known)
      const beyond = Math.max(0, total - paths.length)
      return { pending: rest.pending, leftOut: rest.leftOut + beyond }
    })
  )

/** Brings the index up to date with some paths. False where that takes a look at all files. */
export const refreshPaths = (
  options: RefreshOptions,
  paths: ReadonlyArray<string>
): Effect.Effect<boolean, ListError | ToolError<"search_failed">> => {
  // A new ignore file changes what belongs in the index, and so may a path that is a pattern.
  if (paths.length > 256 || paths.some((path) => /(?:^|\/)\.gitignore$|[*?[\]{}()!\\]/.test(path)))
    return Effect.succeed(false)
  return exclusively(
    options.lock,
    Effect.gen(function* () {
      const { workspace, database } = options
      const stats: Array<FileStat> = []
      const known = new Map<string, IndexedFile>()
      for (const path of paths) {
        const info = yield* Effect.option(workspace.info(path, { follow: false }))
        if (info._tag === "Some" && info.value.kind === "directory") return false
        const isThere =
          info._tag === "Some" &&
          info.value.kind === "file" &&
          isIndexable(path) &&
          !workspace.isSecret(path) &&
          (yield* isSeen(workspace, path))
        if (isThere) stats.push(statOf(path, info.value))
        else if (database.file(path) === undefined) {
          const below = database.all("SELECT path FROM file WHERE path > ? AND path < ?", [`${path}/`, `${path}0`])
          yield* removeAll(
            database,
            below.map((row) => String(row["path"]))
          )
        } else yield* removeAll(database, [path])
        const before = database.file(path)
        if (before !== undefined) known.set(path, before)
      }
      const { pending } = yield* indexFiles(options, stats, known)
      return pending === 0
    })
  )
}

const isSeen = (workspace: WorkspaceService, path: string): Effect.Effect<boolean> =>
  workspace.glob(".", path, { respectIgnore: true, limit: 1 }).pipe(
    Effect.map(({ total }) => total > 0),
    Effect.catch(() => Effect.succeed(false))
  )

const everyFile = (workspace: WorkspaceService, limit: number) =>
  workspace.glob(".", "**/*", { respectIgnore: true, limit }).pipe(
    Effect.catchIf(
      (error): error is ToolError<"invalid_pattern"> => error.code === "invalid_pattern",
      (error) => Effect.die(error)
    )
  )

const removeAll = (database: IndexDatabase, paths: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.sync(() => {
    if (paths.length > 0) database.transaction(() => paths.forEach((path) => database.remove(path)))
  })

const changedFiles = Effect.fnUntraced(function* (
  workspace: WorkspaceService,
  paths: ReadonlyArray<string>,
  known: ReadonlyMap<string, IndexedFile>
): Effect.fn.Return<ReadonlyArray<FileStat>> {
  const changed: Array<FileStat> = []
  for (const path of paths) {
    const looked = yield* Effect.option(workspace.info(path, { follow: false }))
    if (looked._tag === "None" || looked.value.kind !== "file") continue
    const before = known.get(path)
    const { size, modified } = looked.value
    const isSame = before !== undefined && before.isSettled && before.size === size && before.modified === modified
    if (!isSame) changed.push(statOf(path, looked.value))
  }
  return changed
})

const statOf = (path: string, { size, modified }: { readonly size: number; readonly modified: number }): FileStat => ({
  path,
  size,
  modified,
  isSettled: Date.now() - modified > settledAfterMs
})

const indexFiles = Effect.fnUntraced(function* (
  options: RefreshOptions,
  files: ReadonlyArray<FileStat>,
  known: ReadonlyMap<string, IndexedFile>
): Effect.fn.Return<Refreshed> {
  const { database, until, maxBytes } = options
  for (let done = 0; done < files.length; done += batchSize) {
    if (performance.now() > until) return { pending: files.length - done, leftOut: 0 }
    if (database.bytes > maxBytes) return { pending: 0, leftOut: files.length - done }
    if (files.length > batchSize) yield* reportProgress({ message: "Indexing code", done, total: files.length })
    const batch = files.slice(done, done + batchSize)
    const rows = yield* rowsOf(options, batch, known)
    yield* Effect.sync(() =>
      database.transaction(() => {
        for (const row of rows) {
          if ("sections" in row) database.write(row)
          else database.touch(row)
        }
      })
    )
  }
  return { pending: 0, leftOut: 0 }
})

/** Reads a batch: whole rows of files whose content is new, the stat of the others. */
const rowsOf = Effect.fnUntraced(function* (
  { workspace, grammars }: RefreshOptions,
  batch: ReadonlyArray<FileStat>,
  known: ReadonlyMap<string, IndexedFile>
): Effect.fn.Return<ReadonlyArray<FileRow | FileStat>> {
  const parsers = yield* parsersFor(grammars, batch)
  const stats = new Map(batch.map((stat) => [stat.path, stat]))
  const rows: Array<FileRow | FileStat> = []
  const visit = (path: string, content: Uint8Array | ToolError): boolean => {
    const stat = stats.get(path)
    if (stat === undefined) return true
    const bytes = isToolError(content) ? undefined : content
    if (bytes !== undefined && known.get(path)?.hash === fingerprintBytes(bytes)) rows.push(stat)
    else rows.push(fileRow(stat, bytes, parsers(path)))
    return true
  }
  // Links are never followed, whatever the contract of the call allows: what they lead to has a path of its own.
  yield* workspace
    .readEach([...stats.keys()], visit, { maxBytes: mostFileBytes })
    .pipe(Effect.updateService(CurrentCall, (call) => ({ ...call, symlinks: "deny" as const })))
  return rows
})

const parsersFor = (grammars: Grammars | undefined, batch: ReadonlyArray<FileStat>) =>
  Effect.promise(async () => {
    const names = [...new Set(batch.map(({ path }) => languageOf(path)))].filter(hasGrammar)
    const loaded = await Promise.all(names.map(async (name) => [name, await grammars?.load(name)] as const))
    const parsers = new Map<string | undefined, Parse | undefined>(loaded)
    return (path: string) => {
      const name = languageOf(path)
      return { name, parse: parsers.get(name) }
    }
  })

const hasGrammar = (name: LanguageName | "markdown" | undefined): name is LanguageName =>
  name !== undefined && name !== "markdown"

/** Keeps other processes from indexing the same files at the same time: they wait, and find them indexed. */
const exclusively = <A, E>(lock: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) => {
    const take: Effect.Effect<() => void> = Effect.suspend(() => {
      const release = takeLock(lock)
      return release === undefined ? Effect.andThen(restore(Effect.sleep(25)), take) : Effect.succeed(release)
    })
    return Effect.flatMap(take, (release) => Effect.ensuring(restore(work), Effect.sync(release)))
  })
