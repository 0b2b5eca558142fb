/** The items in the order of their keys. */
export const sortedBy = <A>(items: ReadonlyArray<A>, keyOf: (item: A) => number): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, key: keyOf(item) }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item)

/** A seeded pseudo-random number generator: the same seed gives the same choices on every machine. */
export class Random {
  #state: number

  constructor(seed: string) {
    // FNV-1a, so that seeds that differ in one character give unrelated sequences.
    this.#state = Buffer.from(seed).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5)
  }

  /** A number from 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer between two, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  /** One of several; `undefined` of none. */
  pick<A>(choices: ReadonlyArray<A>): A | undefined {
    return choices[this.between(0, choices.length - 1)]
  }

  shuffle<A>(items: ReadonlyArray<A>): ReadonlyArray<A> {
    return sortedBy(items, () => this.next())
  }
}
