import { changedPart } from "./changed-part.ts"

/** Comparing every removed line with every added one gets slow; in larger blocks no lines are matched. */
const mostPairs = 2_500
const leastAlike = 0.5

/**
 * Which removed line became which added line, as pairs of indices. Only lines that are at least half alike are paired.
 */
export const alignLines = (
  removed: ReadonlyArray<string>,
  added: ReadonlyArray<string>
): ReadonlyArray<readonly [removed: number, added: number]> => {
  if (removed.length * added.length > mostPairs) return []
  // best[i][j]: the highest sum of likenesses that pairs from removed[i] and added[j] onwards can reach.
  const best = Array.from({ length: removed.length + 1 }, () => Array.from({ length: added.length + 1 }, () => 0))
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0
  const paired = (i: number, j: number): number => {
    const alike = likeness(removed[i] ?? "", added[j] ?? "")
    return alike < leastAlike ? 0 : alike + at(i + 1, j + 1)
  }
  for (let i = removed.length - 1; i >= 0; i--) {
    for (let j = added.length - 1; j >= 0; j--) {
      const row = best[i]
      if (row !== undefined) row[j] = Math.max(paired(i, j), at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: Array<readonly [number, number]> = []
  for (let i = 0, j = 0; at(i, j) > 0;) {
    if (at(i, j) === at(i + 1, j)) i++
    else if (at(i, j) === at(i, j + 1)) j++
    else pairs.push([i++, j++])
  }
  return pairs
}

/** From 0 to 1: how much of two lines is the same at their beginning and end, indentation aside. */
const likeness = (one: string, other: string): number => {
  const [first, second] = [one.trim(), other.trim()]
  const longer = Math.max(first.length, second.length)
  if (longer === 0) return 1
  const { start, end } = changedPart(first, second)
  return (first.length - (end - start)) / longer
}
