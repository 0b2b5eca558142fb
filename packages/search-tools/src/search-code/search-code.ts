import {
  CodeIndex,
  type CodeIndexError,
  type CodeMatch,
  type CodeQuery,
  type Counted,
  toolError,
  type ToolError
} from "@haft/core"
import * as Effect from "effect/Effect"

/** Files and definitions ranked by how well they match a description or an identifier. */
export const searchCode = Effect.fnUntraced(function* (
  request: CodeQuery
): Effect.fn.Return<Counted<CodeMatch>, CodeIndexError | ToolError<"invalid_params">> {
  if (!/[\p{L}\p{N}]/u.test(request.query)) {
    return yield* toolError("invalid_params", "parameter 'query': has no word to search for", {
      suggestion: "Describe the code in words or name an identifier; search_text finds punctuation."
    })
  }
  const index = yield* CodeIndex
  return yield* index.search(request)
})
