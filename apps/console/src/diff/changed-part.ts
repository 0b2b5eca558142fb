/** Where `one` differs from `other`: the part between their common beginning and their common end. */
export const changedPart = (one: string, other: string): { readonly start: number; readonly end: number } => {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let tail = 0
  while (tail < shorter - start && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++
  return { start, end: one.length - tail }
}
