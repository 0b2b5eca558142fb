/**
 * Visits every place a pattern stands at, also those that overlap. Takes time in proportion to both lengths,
 * whatever repeats itself in them.
 */
export const visitOccurrences = <A>(
  { from, to, at }: { readonly from: number; readonly to: number; readonly at: (index: number) => A },
  pattern: ArrayLike<A>,
  visit: (start: number) => void
): void => {
  const borders = bordersOf(pattern)
  let matched = 0
  for (let index = from; index < to; index++) {
    const item = at(index)
    while (matched > 0 && pattern[matched] !== item) matched = borders[matched - 1] ?? 0
    if (pattern[matched] === item) matched++
    if (matched < pattern.length) continue
    visit(index - matched + 1)
    matched = borders[matched - 1] ?? 0
  }
}

/** For each beginning of a pattern, how long an end of it is that the pattern also begins with (Knuth, Morris, Pratt). */
const bordersOf = (pattern: ArrayLike<unknown>): Int32Array => {
  const borders = new Int32Array(pattern.length)
  for (let index = 1, length = 0; index < pattern.length; index++) {
    while (length > 0 && pattern[length] !== pattern[index]) length = borders[length - 1] ?? 0
    if (pattern[length] === pattern[index]) length++
    borders[index] = length
  }
  return borders
}
