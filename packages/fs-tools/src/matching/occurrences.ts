/** Work in parts of a few milliseconds, with a pause after each. */
export type Parts<A = void> = Generator<void, A, void>

/** Does all parts at once. */
export const allParts = <A>(parts: Parts<A>): A => {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}

/** Items between two pauses. */
export const itemsInPart = 4096

interface Range<A> {
  readonly from: number
  readonly to: number
  readonly at: (index: number) => A
}

/** Visits every place a pattern stands at, as {@link occurrencesInParts} does, without a pause. */
export const visitOccurrences = <A>(range: Range<A>, pattern: ArrayLike<A>, visit: (start: number) => void): void =>
  allParts(occurrencesInParts(range, pattern, visit))

/**
 * Visits every place a pattern stands at, also those that overlap. Takes time in proportion to both lengths,
 * whatever repeats itself in them.
 */
export function* occurrencesInParts<A>(
  { from, to, at }: Range<A>,
  pattern: ArrayLike<A>,
  visit: (start: number) => void
): Parts {
  const borders = bordersOf(pattern)
  let matched = 0
  for (let index = from; index < to; index++) {
    if (index % itemsInPart === 0) yield
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
