import type { CodeSymbol } from "@haft/core"

import type { IndexDatabase } from "./database.ts"
import { nameTerms, queryTerms, termsOf } from "./terms.ts"

/** A file with the sections of it that match a query, best first. */
export interface RankedFile {
  readonly path: string
  readonly score: number
  /** Windows of lines have an empty name. */
  readonly sections: ReadonlyArray<CodeSymbol>
  readonly why: string
}

/** A part of the workspace: a directory, or a file. `.` is all of it. */
export interface PathRange {
  readonly sql: string
  readonly values: ReadonlyArray<string>
}

/** A condition on `file.path` for everything at or below a path. */
export const pathRange = (path: string): PathRange =>
  path === "."
    ? { sql: "1", values: [] }
    : // `0` is the character after `/`.
      { sql: "(file.path = ? OR (file.path > ? AND file.path < ?))", values: [path, `${path}/`, `${path}0`] }

/** Candidates from each of the two tables; what is further down is never shown. */
const candidates = 200

/** Reciprocal rank fusion: how much the first ranks stand out. */
const fusion = 20

/**
 * Ranks files by two lists: the best definition of each file, and the file as a whole. Descriptions of one function
 * are found by the first, changes that concern a file by the second; a file that is high in both comes first.
 */
export const rankFiles = (database: IndexDatabase, query: string, path: string): ReadonlyArray<RankedFile> => {
  const words = queryTerms(query)
  const terms = [...words.keys()]
  if (terms.length === 0) return []
  const range = pathRange(path)
  const prior = priorFor(terms)
  const sections = matchingSections(database, terms, range)
    .map(({ symbol, score }) => ({ symbol, score: score * prior(symbol.path) }))
    .toSorted((one, other) => other.score - one.score)
  const files = matchingFiles(database, terms, range)
    .map(({ path, score }) => ({ path, score: score * prior(path) }))
    .toSorted((one, other) => other.score - one.score)

  const found = new Map<string, { score: number; sections: Array<CodeSymbol> }>()
  const at = (path: string) => {
    const known = found.get(path) ?? { score: 0, sections: [] }
    found.set(path, known)
    return known
  }
  let rank = 0
  for (const { symbol } of sections) {
    const file = at(symbol.path)
    if (file.sections.length === 0) file.score += 1 / (fusion + ++rank)
    if (file.sections.length < 6) file.sections.push(symbol)
  }
  for (const [index, { path }] of files.entries()) at(path).score += 1 / (fusion + index + 1)
  const named = namedExactly(database, query, range)
  for (const symbol of named) {
    const file = at(symbol.path)
    file.score += prior(symbol.path) / (named.length * fusion)
    file.sections = [symbol, ...file.sections.filter((one) => one.startLine !== symbol.startLine)]
  }
  return [...found]
    .map(([path, { score, sections }]) => ({ path, score, sections, why: reasonFor(words, path, sections[0]) }))
    .toSorted((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1))
}

const matchingSections = (database: IndexDatabase, terms: ReadonlyArray<string>, { sql, values }: PathRange) =>
  firstEnough(matchesOf(database, "symbol", terms), (match) =>
    database.all(
      `SELECT file.path, symbol.*, hit.score FROM (
         SELECT symbol_text.rowid AS id, bm25(symbol_text, 5.0, 2.0, 2.0, 1.5, 1.0) AS score FROM symbol_text
         WHERE symbol_text MATCH ? ${within("symbol_text", "SELECT symbol.id FROM symbol JOIN file ON file.id = symbol.file", sql)}
         ORDER BY score LIMIT ${candidates}
       ) AS hit JOIN symbol ON symbol.id = hit.id JOIN file ON file.id = symbol.file ORDER BY hit.score`,
      [match, ...values]
    )
  ).map((row) => ({ symbol: symbolOf(row), score: -Number(row["score"]) }))

const matchingFiles = (database: IndexDatabase, terms: ReadonlyArray<string>, { sql, values }: PathRange) =>
  firstEnough(matchesOf(database, "file", terms), (match) =>
    database.all(
      `SELECT file.path, hit.score FROM (
         SELECT file_text.rowid AS id, bm25(file_text, 3.0, 2.0, 1.0) AS score FROM file_text
         WHERE file_text MATCH ? ${within("file_text", "SELECT file.id FROM file", sql)}
         ORDER BY score LIMIT ${candidates}
       ) AS hit JOIN file ON file.id = hit.id ORDER BY hit.score`,
      [match, ...values]
    )
  ).map((row) => ({ path: String(row["path"]), score: -Number(row["score"]) }))

/** Rows of the first expression that has enough of them, or of the last one. */
const firstEnough = <Row>(
  [match = "", ...others]: ReadonlyArray<string>,
  search: (match: string) => ReadonlyArray<Row>
): ReadonlyArray<Row> => {
  const rows = search(match)
  return rows.length >= enough || others.length === 0 ? rows : firstEnough(others, search)
}

/** Rows that a stricter expression must have, so that the looser one is not tried. */
const enough = 50

const within = (table: string, ids: string, condition: string): string =>
  condition === "1" ? "" : `AND ${table}.rowid IN (${ids} WHERE ${condition})`

// Quoted, so that no word is an operator of FTS5.
const quoted = (terms: ReadonlyArray<string>): ReadonlyArray<string> =>
  terms.map((term) => `"${term.replaceAll('"', "")}"`)

/** Rows that a query may have to score; more take too long. */
const mostScored = 5000

/**
 * FTS5 expressions for a query, the best first: the terms that are rare enough to be scored quickly, any of them.
 * Common terms hardly move the ranking beside rare ones. Where all but one are common, all of them together come first,
 * because few rows have them all, then the rarest with any other, then the rarest, and the next one in names.
 */
const matchesOf = (
  database: IndexDatabase,
  table: "symbol" | "file",
  terms: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const counted = terms
    .map((term) => {
      const [row] = database.all(`SELECT doc FROM ${table}_terms WHERE term = ?`, [term])
      return { term, rows: Number(row?.["doc"] ?? 0) }
    })
    .filter(({ rows }) => rows > 0)
    .toSorted((one, other) => one.rows - other.rows)
  const [rarest = "", ...others] = quoted(counted.length === 0 ? terms : counted.map(({ term }) => term))
  let scored = 0
  const rare = counted.filter(({ rows }) => (scored += rows) <= mostScored).length
  if (rare >= 2 || others.length === 0) return [[rarest, ...others.slice(0, Math.max(0, rare - 1))].join(" OR ")]
  const named = table === "symbol" ? "{name path}" : "{path names}"
  return [
    [rarest, ...others].join(" AND "),
    `${rarest} AND (${others.join(" OR ")})`,
    `${rarest} OR ${named} : ${others[0]}`
  ]
}

/** Definitions that a query names: all of it, or one of the identifiers in it. */
const namedExactly = (database: IndexDatabase, query: string, range: PathRange): ReadonlyArray<CodeSymbol> => {
  const words = query.trim().split(/[^\w$]+/u)
  // A plain word of a sentence is no identifier, a query of one word is.
  const names = words.length === 1 ? words : words.filter((word) => /[a-z][A-Z]|\w_\w/.test(word))
  return names.slice(0, 4).flatMap((name) => symbolsNamed(database, { name, range, limit: 10 }))
}

/** Definitions of a name in any case, the exact one first. */
export const symbolsNamed = (
  database: IndexDatabase,
  { name, range, limit }: { readonly name: string; readonly range: PathRange; readonly limit: number }
): ReadonlyArray<CodeSymbol> =>
  database
    .all(
      `SELECT file.path, symbol.* FROM symbol JOIN file ON file.id = symbol.file
       WHERE symbol.name = ? COLLATE NOCASE AND symbol.name <> '' AND ${range.sql}
       ORDER BY symbol.name <> ?, file.path, symbol.start_line LIMIT ${limit}`,
      [name, ...range.values, name]
    )
    .map(symbolOf)

export const symbolOf = (row: Readonly<Record<string, unknown>>): CodeSymbol => ({
  path: String(row["path"]),
  name: String(row["name"]),
  kind: String(row["kind"]),
  ...(row["container"] !== "" && { container: String(row["container"]) }),
  startLine: Number(row["start_line"]),
  endLine: Number(row["end_line"]),
  signature: String(row["signature"])
})

const tests =
  /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|testdata|e2e)\/|[._-](?:test|spec|e2e)s?\.\w+$|(?:^|\/)test_[^/]*$|_test\.\w+$/i
const examples = /(?:^|\/)(?:examples?|samples?|demos?|bench(?:marks?)?)\//i
const documents = /\.(?:md|mdx|rst|txt|adoc|html?)$|(?:^|\/)(?:docs?|changelogs?)\//i
const data = /\.(?:json|ya?ml|toml|lock|csv|xml|svg|cfg|ini|po|pot)$/i
const copies = /(?:^|\/)(?:vendor|third_party|node_modules|dist|generated)\//i

/** How likely a kind of file is what a reader looks for, unless the query names the kind. */
const priorFor = (terms: ReadonlyArray<string>): ((path: string) => number) => {
  const names = (...words: ReadonlyArray<string>) => words.flatMap(termsOf).some((word) => terms.includes(word))
  const kinds: ReadonlyArray<readonly [RegExp, number, boolean]> = [
    [tests, 0.55, names("test", "tests", "spec", "fixture", "e2e")],
    [examples, 0.6, names("example", "sample", "demo", "benchmark")],
    [documents, 0.5, names("docs", "documentation", "readme", "changelog", "guide")],
    [data, 0.6, names("config", "json", "yaml", "toml", "workflow", "package")],
    [copies, 0.5, names("vendor", "generated")]
  ]
  const lowered = kinds.filter(([, , isNamed]) => !isNamed)
  return (path) => lowered.reduce((prior, [kind, factor]) => (kind.test(path) ? prior * factor : prior), 1)
}

/** Which of the words are in the name, the signature and the path; the others are in the text. */
const reasonFor = (words: ReadonlyMap<string, string>, path: string, section: CodeSymbol | undefined): string => {
  const left = new Map(words)
  const reasons: Array<string> = []
  const take = (field: string, text: ReadonlyArray<string>): void => {
    const found = [...left].filter(([term]) => text.includes(term))
    for (const [term] of found) left.delete(term)
    if (found.length > 0) reasons.push(`${field}: ${[...new Set(found.map(([, word]) => word))].join(", ")}`)
  }
  if (section !== undefined) {
    take("name", nameTerms(section.name))
    take("signature", termsOf(section.signature))
  }
  take("path", path.split(/[/.]/).flatMap(nameTerms))
  return reasons.length === 0 ? "text" : reasons.join("; ")
}
