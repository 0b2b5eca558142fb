import { type CodeReference, isToolError, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import type { IndexDatabase } from "./database.ts"
import { mostFileBytes } from "./file-row.ts"
import { pathRange, symbolsNamed } from "./ranking.ts"
import { termsOf } from "./terms.ts"

export interface ReferenceRequest {
  readonly workspace: WorkspaceService
  readonly database: IndexDatabase
  readonly path: string
  readonly name: string
  readonly limit: number
}

/** Files that are read for one answer; the index says which may contain the name. */
const mostFiles = 2000

/** Lines that contain a name as a whole word, without those that a definition of it begins with. */
export const findReferences = ({ workspace, database, path, name: given, limit }: ReferenceRequest) =>
  Effect.gen(function* () {
    const name = given.split(/::|[.#]/u).findLast((part) => part !== "") ?? given
    const range = pathRange(path)
    const definitions = symbolsNamed(database, { name, range, limit: 1000 })
    const defined = new Set(definitions.map((symbol) => `${symbol.path}:${symbol.startLine}`))
    const terms = termsOf(name)
    const files = database.all(
      terms.length === 0
        ? `SELECT file.path FROM file WHERE ${range.sql} ORDER BY file.path LIMIT ${mostFiles}`
        : `SELECT file.path FROM file_text JOIN file ON file.id = file_text.rowid
           WHERE file_text MATCH ? AND ${range.sql} ORDER BY file.path LIMIT ${mostFiles}`,
      terms.length === 0
        ? range.values
        : [terms.map((term) => `"${term.replaceAll('"', "")}"`).join(" AND "), ...range.values]
    )
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    const word = new RegExp(String.raw`(?<![\w$])${escaped}(?![\w$])`)
    const items: Array<CodeReference> = []
    let total = 0
    yield* workspace.readEach(
      files.map((row) => String(row["path"])),
      (path, content) => {
        if (isToolError(content)) return true
        const source = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8")
        if (!source.includes(name)) return true
        for (const [index, line] of source.split("\n").entries()) {
          if (!line.includes(name) || !word.test(line) || defined.has(`${path}:${index + 1}`)) continue
          total++
          if (items.length < limit) items.push({ path, line: index + 1, content: line.trim().slice(0, 300) })
        }
        return true
      },
      { maxBytes: mostFileBytes }
    )
    return { items, total }
  })
