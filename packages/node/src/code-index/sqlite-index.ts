import { existsSync } from "node:fs"
import { join } from "node:path"

import {
  type CodeIndexError,
  type CodeIndexService,
  type CodeMatch,
  type CodeSymbol,
  type Counted,
  isToolError,
  reasonOf,
  toolError,
  type ToolError,
  type WorkspaceService
} from "@haft/core"
import { stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Semaphore from "effect/Semaphore"

import type { SqliteCodeIndexOptions } from "./code-index.ts"
import { IndexDatabase, isDamaged, requireSqlite } from "./database.ts"
import { hasGrammars, openGrammars } from "./languages/grammars.ts"
import { pathRange, type RankedFile, rankFiles, symbolOf, symbolsNamed } from "./ranking.ts"
import { findReferences } from "./references.ts"
import { type Refreshed, refreshAll, type RefreshOptions, refreshPaths } from "./refresh.ts"
import { snippetOf } from "./snippet.ts"
import { queryTerms } from "./terms.ts"

/** The part of the format that file names carry: hosts of different versions don't share an index. */
const formatVersion = 1

/** The index of one workspace, opened at its first query. */
export class SqliteIndex {
  readonly #workspace: WorkspaceService
  readonly #options: Required<Omit<SqliteCodeIndexOptions, "directory">>
  readonly #path: string
  readonly #turn = Semaphore.makeUnsafe(1)
  readonly #changed = new Set<string>()
  readonly #stopListening: (() => void) | undefined
  #database: IndexDatabase | undefined
  /** When all files are looked at again; 0 is now. */
  #dueAt = 0
  #left: Refreshed = { pending: 0, leftOut: 0 }

  constructor(workspace: WorkspaceService, { directory, ...options }: SqliteCodeIndexOptions) {
    this.#workspace = workspace
    this.#options = { maxFiles: 200_000, maxBytes: 2 ** 30, buildTimeMs: 30_000, grammars: true, ...options }
    this.#path = join(directory, `code-index-${formatVersion}.sqlite`)
    this.#stopListening = workspace.onCommit?.((paths) => paths.forEach((path) => this.#changed.add(path)))
  }

  readonly service: CodeIndexService = {
    search: (query) =>
      this.#fresh(query.path, (database, path) =>
        Effect.gen({ self: this }, function* () {
          const ranked = rankFiles(database, query.query, path)
          const terms = [...queryTerms(query.query).keys()]
          const items = yield* this.#shown(ranked.slice(0, query.limit), terms)
          return { items, total: ranked.length }
        })
      ),
    outline: (scope) =>
      this.#fresh(scope.path, (database, path) => {
        const range = pathRange(path)
        const condition = `symbol.name <> '' AND ${scope.topLevelOnly === true ? "symbol.container = '' AND" : ""} ${range.sql}`
        const from = `FROM symbol JOIN file ON file.id = symbol.file WHERE ${condition}`
        const rows = database.all(
          `SELECT file.path, symbol.* ${from} ORDER BY file.path, symbol.start_line, symbol.id LIMIT ${scope.limit}`,
          range.values
        )
        const [count] = database.all(`SELECT count(*) AS n ${from}`, range.values)
        return Effect.succeed({ items: rows.map(symbolOf), total: Number(count?.["n"] ?? 0) })
      }),
    definitions: (query) =>
      this.#fresh(query.path, (database, path) => {
        const all = definitionsOf(database, query.name, path)
        return Effect.succeed({ items: all.slice(0, query.limit), total: all.length })
      }),
    references: (query) =>
      this.#fresh(query.path, (database, path) =>
        findReferences({ workspace: this.#workspace, database, path, name: query.name, limit: query.limit })
      ),
    status: this.#guarded(
      Effect.sync(() => {
        requireSqlite()
        const withGrammars = this.#options.grammars && hasGrammars()
        if (!existsSync(this.#path)) return { files: 0, symbols: 0, bytes: 0, hasGrammars: withGrammars }
        const database = this.#open()
        const [row] = database.all(
          "SELECT (SELECT count(*) FROM file) AS files, (SELECT count(*) FROM symbol) AS symbols"
        )
        const refreshedAt = database.recall("refreshed_at")
        return {
          files: Number(row?.["files"] ?? 0),
          symbols: Number(row?.["symbols"] ?? 0),
          bytes: database.bytes,
          ...(refreshedAt !== undefined && { refreshedAt }),
          hasGrammars: withGrammars
        }
      })
    )
  }

  close(): void {
    this.#stopListening?.()
    this.#database?.close()
    this.#database = undefined
  }

  /** Answers from an index that is up to date, and once more where the answer shows files that have changed meanwhile. */
  #fresh<A>(
    given: string,
    use: (
      database: IndexDatabase,
      path: string
    ) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly total: number }, CodeIndexError>
  ): Effect.Effect<Counted<A>, CodeIndexError> {
    const answer = Effect.gen({ self: this }, function* () {
      const path = (yield* this.#workspace.info(given)).path
      yield* this.#turn.withPermits(1)(this.#refresh)
      const found = yield* use(this.#open(), path)
      if (this.#changed.size === 0) return found
      yield* this.#turn.withPermits(1)(this.#refresh)
      return yield* use(this.#open(), path)
    })
    return Effect.map(this.#guarded(answer), (found) => ({ ...found, remarks: this.#remarks() }))
  }

  readonly #refresh: Effect.Effect<void, CodeIndexError> = Effect.gen({ self: this }, function* () {
    const options = yield* this.#refreshOptions
    if (performance.now() < this.#dueAt) {
      const changed = [...this.#changed]
      if (changed.length === 0) return
      this.#changed.clear()
      if (yield* refreshPaths(options, changed)) return
    }
    const startedAt = performance.now()
    this.#changed.clear()
    this.#dueAt = 0
    this.#left = yield* stepSpan("index")(refreshAll(options))
    options.database.remember("refreshed_at", Date.now())
    const tookMs = performance.now() - startedAt
    yield* measure(options.database, tookMs / 1000)
    if (this.#left.pending === 0) this.#dueAt = performance.now() + Math.max(quietMs, tookMs * shareOfTime)
  })

  get #refreshOptions(): Effect.Effect<RefreshOptions> {
    return Effect.promise(async () => {
      const { maxFiles, maxBytes, buildTimeMs } = this.#options
      return {
        workspace: this.#workspace,
        database: this.#open(),
        grammars: this.#options.grammars ? await openGrammars() : undefined,
        lock: `${this.#path}.lock`,
        maxFiles,
        maxBytes,
        until: performance.now() + buildTimeMs
      }
    })
  }

  #open(): IndexDatabase {
    if (this.#database?.isReplaced === true) {
      this.#database.close()
      this.#database = undefined
      this.#dueAt = 0
    }
    return (this.#database ??= IndexDatabase.open(this.#path))
  }

  /** Builds a damaged index again and repeats the work; other faults of SQLite are failures that the caller can read. */
  #guarded<A>(work: Effect.Effect<A, CodeIndexError>): Effect.Effect<A, CodeIndexError> {
    return Effect.catchDefect(work, (defect) => {
      if (!isDamaged(defect)) return asFailure(defect)
      this.#database?.close()
      this.#database = undefined
      IndexDatabase.remove(this.#path)
      this.#dueAt = 0
      return Effect.catchDefect(work, asFailure)
    })
  }

  /** Adds what the workspace has now to ranked files, and notes those that have changed since they were indexed. */
  #shown(ranked: ReadonlyArray<RankedFile>, terms: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<CodeMatch>> {
    const matches: Array<CodeMatch> = []
    const byPath = new Map(ranked.map((file) => [file.path, file]))
    const database = this.#open()
    const read = this.#workspace.readEach([...byPath.keys()], (path, content) => {
      const file = byPath.get(path)
      if (file === undefined) return true
      if (isToolError(content)) this.#changed.add(path)
      else {
        const shown = snippetOf(file, content, terms)
        if (shown.hash !== database.file(path)?.hash) this.#changed.add(path)
        matches.push(shown.match)
      }
      return true
    })
    return Effect.as(read, matches)
  }

  #remarks(): ReadonlyArray<string> {
    const { pending, leftOut } = this.#left
    return [
      ...(pending > 0
        ? [`The index is being built: ${pending} files are not in it yet. Call again for all results.`]
        : []),
      ...(leftOut > 0
        ? [`The index is full: ${leftOut} files are not in it. Set path to search a part with search_text.`]
        : []),
      ...(this.#options.grammars && hasGrammars()
        ? []
        : ["Definitions are not indexed: the optional package @vscode/tree-sitter-wasm is not installed."])
    ]
  }
}

/** All files are looked at again after this time at the earliest, */
const quietMs = 1000
/** and not before so many times the duration of the last look have passed. */
const shareOfTime = 10

const fileCount = Metric.gauge("haft.code_index.files", { description: "Files in the code index" })
const size = Metric.gauge("haft.code_index.size", {
  description: "Size of the code index on disk",
  attributes: { unit: "bytes" }
})
const refreshDuration = Metric.histogram("haft.code_index.refresh.duration", {
  description: "Duration of comparing the code index with all files",
  attributes: { unit: "seconds" },
  boundaries: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300]
})

const measure = (database: IndexDatabase, seconds: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const files = Number(database.all("SELECT count(*) AS n FROM file")[0]?.["n"] ?? 0)
    return Metric.update(fileCount, files).pipe(
      Effect.andThen(Metric.update(size, database.bytes)),
      Effect.andThen(Metric.update(refreshDuration, seconds))
    )
  })

const asFailure = (defect: unknown): Effect.Effect<never, ToolError<"search_unavailable" | "search_failed">> => {
  if (isToolError(defect)) return Effect.fail(defect as ToolError<"search_unavailable">)
  if (!(defect instanceof Error && "errcode" in defect)) return Effect.die(defect)
  return toolError("search_failed", `the code index can't be used: ${reasonOf(defect)}`, {
    suggestion: "Check that the state directory is writable and has room, or use search_text, which needs no index."
  })
}

const definitionsOf = (database: IndexDatabase, name: string, path: string): ReadonlyArray<CodeSymbol> => {
  const parts = name.split(/::|[.#]/u).filter((part) => part !== "")
  const container = parts.at(-2)
  const found = symbolsNamed(database, { name: parts.at(-1) ?? name, range: pathRange(path), limit: 1000 })
  const sameCase = (one: CodeSymbol) =>
    container === undefined || one.container?.toLowerCase() === container.toLowerCase()
  return found.filter(sameCase)
}
