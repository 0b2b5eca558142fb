import { mkdirSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type * as Sqlite from "node:sqlite"

import { makeToolError, reasonOf } from "@haft/core"

import type { IndexedSection } from "./languages/parse-symbols.ts"

/** A file as the index knows it. */
export interface IndexedFile {
  readonly id: number
  readonly path: string
  readonly size: number
  readonly modified: number
  readonly hash: string
  /** False where the file was so young when it was read that a later change may have the same time stamp. */
  readonly isSettled: boolean
}

/** Everything that is written about one file. */
export interface FileRow extends Omit<IndexedFile, "id"> {
  readonly sections: ReadonlyArray<SectionRow>
  readonly pathText: string
  readonly namesText: string
  readonly bodyText: string
}

export interface SectionRow extends IndexedSection {
  readonly nameText: string
  readonly signatureText: string
  readonly docText: string
  readonly bodyText: string
}

/** Bumped whenever rows change their meaning: an index of another version is built again. */
const schemaVersion = 1

// `content=''` keeps only the inverted index: the text itself stays in the workspace. With `detail=column`, which would
// be smaller, bm25() is always 0.
const schema = `
  CREATE TABLE file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified REAL NOT NULL,
    hash TEXT NOT NULL, settled INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE symbol (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, container TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, signature TEXT NOT NULL
  ) STRICT;
  CREATE INDEX symbol_file ON symbol (file, start_line);
  CREATE INDEX symbol_name ON symbol (name COLLATE NOCASE) WHERE name <> '';
  CREATE VIRTUAL TABLE symbol_text USING fts5 (
    name, signature, doc, path, body, content='', contentless_delete=1, tokenize='ascii'
  );
  CREATE VIRTUAL TABLE file_text USING fts5 (
    path, names, body, content='', contentless_delete=1, tokenize='ascii'
  );
  CREATE VIRTUAL TABLE symbol_terms USING fts5vocab (symbol_text, row);
  CREATE VIRTUAL TABLE file_terms USING fts5vocab (file_text, row);
  CREATE TABLE meta (key TEXT PRIMARY KEY, value REAL NOT NULL) STRICT;
`

/** The SQLite file of an index. All methods throw where it is damaged, see {@link isDamaged}. */
export class IndexDatabase {
  readonly #database: Sqlite.DatabaseSync
  readonly #statements = new Map<string, Sqlite.StatementSync>()
  readonly #path: string
  readonly #inode: number

  private constructor(path: string, database: Sqlite.DatabaseSync) {
    this.#path = path
    this.#database = database
    this.#inode = statSync(path).ino
  }

  /** Opens the index, or makes a new one where there is none, or one of another version, or a damaged one. */
  static open(path: string): IndexDatabase {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      return IndexDatabase.#openOnce(path)
    } catch (cause) {
      if (!isDamaged(cause)) throw cause
      IndexDatabase.remove(path)
      return IndexDatabase.#openOnce(path)
    }
  }

  /** Deletes an index. Another process that has it open notices with {@link isReplaced}. */
  static remove(path: string): void {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true })
  }

  static #openOnce(path: string): IndexDatabase {
    const { DatabaseSync } = requireSqlite()
    const database = new DatabaseSync(path, { timeout: 10_000 })
    try {
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384")
      const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
      if (version !== schemaVersion) create(database)
      return new IndexDatabase(path, database)
    } catch (cause) {
      database.close()
      throw cause
    }
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  /** True when another process has put a new index in the place of this one. */
  get isReplaced(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode
  }

  /** Bytes on disk, without the write-ahead log. */
  get bytes(): number {
    return Number(
      this.all("SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size")[0]?.["n"] ?? 0
    )
  }

  all(sql: string, values: ReadonlyArray<string | number> = []): ReadonlyArray<Readonly<Record<string, unknown>>> {
    return this.#statement(sql).all(...values)
  }

  /** Runs a piece of work as one transaction. */
  transaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE")
    try {
      work()
      this.#database.exec("COMMIT")
    } catch (cause) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw cause
    }
  }

  /** Puts a file into the index in the place of what was there about it. */
  write(file: FileRow): void {
    this.remove(file.path)
    const { path, size, modified, hash, isSettled } = file
    const id = Number(
      this.#run("INSERT INTO file (path, size, modified, hash, settled) VALUES (?, ?, ?, ?, ?)", [
        path,
        size,
        modified,
        hash,
        isSettled ? 1 : 0
      ])
    )
    this.#run("INSERT INTO file_text (rowid, path, names, body) VALUES (?, ?, ?, ?)", [
      id,
      file.pathText,
      file.namesText,
      file.bodyText
    ])
    for (const section of file.sections) {
      const { name, kind, container, startLine, endLine, signature } = section
      const symbol = Number(
        this.#run(
          "INSERT INTO symbol (file, name, kind, container, start_line, end_line, signature) VALUES (?, ?, ?, ?, ?, ?, ?)",
          [id, name, kind, container, startLine, endLine, signature]
        )
      )
      this.#run("INSERT INTO symbol_text (rowid, name, signature, doc, path, body) VALUES (?, ?, ?, ?, ?, ?)", [
        symbol,
        section.nameText,
        section.signatureText,
        section.docText,
        file.pathText,
        section.bodyText
      ])
    }
  }

  /** Takes a file out of the index. */
  remove(path: string): void {
    for (const { id } of this.all("SELECT id FROM file WHERE path = ?", [path])) {
      const file = Number(id)
      this.#run("DELETE FROM symbol_text WHERE rowid IN (SELECT id FROM symbol WHERE file = ?)", [file])
      this.#run("DELETE FROM symbol WHERE file = ?", [file])
      this.#run("DELETE FROM file_text WHERE rowid = ?", [file])
      this.#run("DELETE FROM file WHERE id = ?", [file])
    }
  }

  /** Notes the stat of a file whose content is the indexed one. */
  touch({ path, size, modified, isSettled }: Omit<IndexedFile, "id" | "hash">): void {
    this.#run("UPDATE file SET size = ?, modified = ?, settled = ? WHERE path = ?", [
      size,
      modified,
      isSettled ? 1 : 0,
      path
    ])
  }

  files(): Map<string, IndexedFile> {
    const rows = this.all("SELECT id, path, size, modified, hash, settled FROM file")
    return new Map(rows.map((row) => [String(row["path"]), fileOf(row)]))
  }

  file(path: string): IndexedFile | undefined {
    const [row] = this.all("SELECT id, path, size, modified, hash, settled FROM file WHERE path = ?", [path])
    return row === undefined ? undefined : fileOf(row)
  }

  /** A remembered number, such as when the index was last refreshed. */
  recall(key: string): number | undefined {
    const [row] = this.all("SELECT value FROM meta WHERE key = ?", [key])
    return row === undefined ? undefined : Number(row["value"])
  }

  remember(key: string, value: number): void {
    this.#run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [key, value])
  }

  #run(sql: string, values: ReadonlyArray<string | number>): number | bigint {
    return this.#statement(sql).run(...values).lastInsertRowid
  }

  #statement(sql: string): Sqlite.StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const made = this.#database.prepare(sql)
    // After an insert into an FTS5 table the last row id may be beyond what a number can hold, and `run` throws.
    if (!sql.startsWith("SELECT")) made.setReadBigInts(true)
    this.#statements.set(sql, made)
    return made
  }
}

const fileOf = (row: Readonly<Record<string, unknown>>): IndexedFile => ({
  id: Number(row["id"]),
  path: String(row["path"]),
  size: Number(row["size"]),
  modified: Number(row["modified"]),
  hash: String(row["hash"]),
  isSettled: Number(row["settled"]) === 1
})

// In a transaction that looks again, because another process may be making the same index.
const create = (database: Sqlite.DatabaseSync): void => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
    if (version !== 0 && version !== schemaVersion) throw new OutdatedIndex()
    if (version === 0) database.exec(`${schema} PRAGMA user_version = ${schemaVersion};`)
    database.exec("COMMIT")
  } catch (cause) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw cause
  }
}

class OutdatedIndex extends Error {}

const corrupt = 11
const notADatabase = 26

/** True for an error that says that the file is damaged, or of another version: it has to be built again. */
export const isDamaged = (cause: unknown): boolean =>
  cause instanceof OutdatedIndex ||
  (cause instanceof Error && "errcode" in cause && [corrupt, notADatabase].includes(Number(cause.errcode) & 0xff))

let module: typeof Sqlite | undefined

/** Node's SQLite, without the warning that Node 22 prints about it. Throws `search_unavailable` where there is none. */
export const requireSqlite = (): typeof Sqlite => {
  if (module !== undefined) return module
  const emitWarning: unknown = Reflect.get(process, "emitWarning")
  Reflect.set(process, "emitWarning", () => {})
  try {
    module = process.getBuiltinModule("node:sqlite")
    if (module === undefined) throw new Error("this Node was built without SQLite")
    return module
  } catch (cause) {
    throw makeToolError("search_unavailable", `the code index needs SQLite: ${reasonOf(cause)}`, {
      suggestion: "Use Node 22.19 or newer with SQLite, or search_text, which needs no index."
    })
  } finally {
    Reflect.set(process, "emitWarning", emitWarning)
  }
}
