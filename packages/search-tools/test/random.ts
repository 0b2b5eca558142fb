/** Deterministic random numbers. */
export const randomFrom = (seed: number) => {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const oneOf = <A>(items: ReadonlyArray<A>): A => items[below(items.length)] as A
  const several = <A>(most: number, make: () => A): ReadonlyArray<A> => Array.from({ length: 1 + below(most) }, make)
  return { below, oneOf, several }
}

export type Random = ReturnType<typeof randomFrom>
