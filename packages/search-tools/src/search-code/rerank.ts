import { type CodeMatch, type EmbedderService, redactText } from "@haft/core"
import * as Effect from "effect/Effect"

/** Results of the index that are compared with a query. More cost more and are hardly ever what was meant. */
export const mostReranked = 50

/** Characters of a result that the embedder gets: enough for a signature and the lines below it. */
const mostCharacters = 2000

/** Reciprocal rank fusion, with the constant of the index. */
const fusion = 20

/** Weight of the rank by meaning, against 1 for that by words: a host that pays for an embedder wants it to matter. */
const weight = 2

/** Results of the index in a new order, and a remark where the order stayed as it was. */
export interface Reranked {
  readonly items: ReadonlyArray<CodeMatch>
  readonly remark?: string
}

/**
 * Orders results by two ranks together: that of the index, by words, and that of the embedder, by meaning. A result that
 * is high in both comes first, so neither a poor model nor a lack of common words decides alone.
 */
export const rerank = (
  { embed, endpoint }: EmbedderService,
  query: string,
  items: ReadonlyArray<CodeMatch>
): Effect.Effect<Reranked> => {
  if (items.length < 2) return Effect.succeed({ items })
  const texts = [query, ...items.map(textOf)]
  const sent = endpoint === undefined ? texts : texts.map(redactText)
  return embed(sent).pipe(
    Effect.map(([wanted = [], ...vectors]): Reranked => {
      const similar = items.map((_, index) => cosine(wanted, vectors[index] ?? []))
      if (similar.some((one) => !Number.isFinite(one))) return unchanged(items, "the vectors can't be compared")
      return { items: fused(items, similar) }
    }),
    Effect.catch(({ message }) => Effect.succeed(unchanged(items, message)))
  )
}

const unchanged = (items: ReadonlyArray<CodeMatch>, reason: string): Reranked => ({
  items,
  remark: `Results are ranked by words only: the embedder failed (${reason}).`
})

const textOf = ({ path, symbol, snippet }: CodeMatch): string =>
  [path, symbol?.signature ?? "", ...snippet].join("\n").slice(0, mostCharacters)

const fused = (items: ReadonlyArray<CodeMatch>, similar: ReadonlyArray<number>): ReadonlyArray<CodeMatch> => {
  const bySimilarity = [...similar.keys()].toSorted((one, other) => (similar[other] ?? 0) - (similar[one] ?? 0))
  const ranks = new Map(bySimilarity.map((index, rank) => [index, rank]))
  return items
    .map((item, index) => ({
      ...item,
      score: 1 / (fusion + index + 1) + weight / (fusion + (ranks.get(index) ?? 0) + 1),
      why: `${item.why}; similarity: ${(similar[index] ?? 0).toFixed(2)}`
    }))
    .toSorted((one, other) => other.score - one.score)
}

/** Cosine of the angle between two vectors; not a number where they have no angle. */
const cosine = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  if (one.length !== other.length) return Number.NaN
  let [product, left, right] = [0, 0, 0]
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? 0
    product += value * against
    left += value * value
    right += against * against
  }
  return product / Math.sqrt(left * right)
}
