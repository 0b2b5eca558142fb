import {
  CodeIndex,
  type CodeIndexError,
  type CodeReference,
  type CodeSymbol,
  type Counted,
  type SymbolQuery
} from "@haft/core"
import * as Effect from "effect/Effect"

export interface SymbolRequest extends SymbolQuery {
  /** Lines that use the name, too. */
  readonly includeReferences: boolean
}

export interface FoundSymbol {
  readonly definitions: Counted<CodeSymbol>
  readonly references: Counted<CodeReference> | undefined
}

/** Definitions of a name, and where else it is written. References are by name: scopes and imports are not resolved. */
export const findSymbol = Effect.fnUntraced(function* ({
  includeReferences,
  ...query
}: SymbolRequest): Effect.fn.Return<FoundSymbol, CodeIndexError> {
  const index = yield* CodeIndex
  const definitions = yield* index.definitions(query)
  return { definitions, references: includeReferences ? yield* index.references(query) : undefined }
})
