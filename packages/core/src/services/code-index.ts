import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import { toolError, type ToolError } from "../tool-error.ts"
import type { ListError, ReadError } from "./workspace.ts"

/** A named definition in a source file, or a heading of a document. */
export interface CodeSymbol {
  readonly path: string
  readonly name: string
  /** `function`, `method`, `class`, `interface`, `type`, `enum`, `module`, `constant`, `macro` or `heading`. */
  readonly kind: string
  /** The class, module or heading around it. */
  readonly container?: string
  /** 1-based, inclusive. */
  readonly startLine: number
  readonly endLine: number
  /** The declaration on one line, without its body. */
  readonly signature: string
}

/** Where to look: a file or directory of the workspace, and how many results to return at most. */
export interface CodeScope {
  readonly path: string
  readonly limit: number
}

export interface CodeQuery extends CodeScope {
  /** Natural language or identifiers. */
  readonly query: string
}

/** A file that matches a query, with the part of it that matches best. */
export interface CodeMatch {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  /** The best matching definition; absent where the file as a whole matches. */
  readonly symbol?: CodeSymbol
  /** Further definitions of the file that match, best first. */
  readonly alsoMatching: ReadonlyArray<CodeSymbol>
  /** Higher is better; comparable within one reply only. */
  readonly score: number
  /** Why it was found, for people and models: `name: read, file; text: encoding`. */
  readonly why: string
  /** Lines of the matching part, as the file has them now. */
  readonly snippet: ReadonlyArray<string>
  readonly snippetLine: number
}

export interface CodeOutline extends CodeScope {
  /** Leave out what is inside classes and modules. */
  readonly topLevelOnly?: boolean
}

export interface SymbolQuery extends CodeScope {
  /** A plain name (`parse`), or one with its container (`Parser.parse`). */
  readonly name: string
}

export interface CodeReference {
  readonly path: string
  readonly line: number
  readonly content: string
}

/** A list with the number of all there are. */
export interface Counted<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
  /** Remarks about gaps in the index. */
  readonly remarks: ReadonlyArray<string>
}

/** The state of an index on disk. */
export interface CodeIndexStatus {
  readonly files: number
  readonly symbols: number
  readonly bytes: number
  /** Milliseconds since the epoch; absent for an index that was never built. */
  readonly refreshedAt?: number
  /** False where grammars are not installed: then every file is indexed by windows of lines. */
  readonly hasGrammars: boolean
}

export type CodeIndexError = ToolError<"search_unavailable" | "search_failed"> | ListError | ReadError

export interface CodeIndexService {
  /** Files ranked by how well they, and the definitions in them, match a query. */
  readonly search: (query: CodeQuery) => Effect.Effect<Counted<CodeMatch>, CodeIndexError>
  /** The definitions of a file or a directory, by path and line. */
  readonly outline: (scope: CodeOutline) => Effect.Effect<Counted<CodeSymbol>, CodeIndexError>
  /** Definitions of a name, exact matches first, then those that differ in case only. */
  readonly definitions: (query: SymbolQuery) => Effect.Effect<Counted<CodeSymbol>, CodeIndexError>
  /** Lines that contain a name as a whole word, outside of its definitions. */
  readonly references: (query: SymbolQuery) => Effect.Effect<Counted<CodeReference>, CodeIndexError>
  /** Contents of the index now. Builds nothing. */
  readonly status: Effect.Effect<CodeIndexStatus, CodeIndexError>
}

const absent = toolError("search_unavailable", "this host has no code index", {
  suggestion: "Use search_text, or start the host with a CodeIndex layer such as sqliteCodeIndex of @haft/node."
})

/** Index of the definitions and words of a workspace. A host without one refuses with `search_unavailable`. */
export const CodeIndex = Context.Reference<CodeIndexService>("@haft/core/CodeIndex", {
  defaultValue: () => ({
    search: () => absent,
    outline: () => absent,
    definitions: () => absent,
    references: () => absent,
    status: absent
  })
})
