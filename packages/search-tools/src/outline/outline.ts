import { CodeIndex, type CodeIndexError, type CodeOutline, type CodeSymbol, type Counted } from "@haft/core"
import type * as Effect from "effect/Effect"

/** Definitions of a file or of all files below a directory, by path and line. */
export const outline = (request: CodeOutline): Effect.Effect<Counted<CodeSymbol>, CodeIndexError> =>
  CodeIndex.use((index) => index.outline(request))
