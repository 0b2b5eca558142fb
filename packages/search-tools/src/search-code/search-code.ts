import {
  CodeIndex,
  type CodeIndexError,
  type CodeMatch,
  type CodeQuery,
  type Counted,
  Embedder,
  toolError,
  type ToolError,
  type Touches
} from "@haft/core"
import * as Effect from "effect/Effect"

import { mostReranked, rerank } from "./rerank.ts"

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
  const embedder = yield* Embedder
  if (embedder === undefined) return yield* index.search(request)
  const found = yield* index.search({ ...request, limit: Math.max(request.limit, mostReranked) })
  const { items, remark } = yield* rerank(embedder, request.query, found.items)
  return {
    items: items.slice(0, request.limit),
    total: found.total,
    remarks: [...found.remarks, ...(remark === undefined ? [] : [remark])]
  }
})

/** A search reads below its path, and sends what it finds to the embedder where that is a service. */
export const searchTouches = ({ path }: { readonly path: string }): Effect.Effect<Touches> =>
  Embedder.useSync((embedder) => ({
    reads: [path],
    ...(embedder?.endpoint !== undefined && { fetches: embedder.endpoint })
  }))
