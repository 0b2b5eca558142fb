import type { Fit } from "./linear-expression.ts"

/** A text that must stand in whatever an expression matches. */
export interface Literal {
  readonly text: string
  /** True where capital and small letters are the same. */
  readonly isFolded: boolean
  /** What an index has if it has the literal: one list or the other, depending on where in a text it stands. */
  readonly grams: readonly [ReadonlyArray<number>, ReadonlyArray<number>]
}

export const literal = (text: string, isFolded: boolean): Literal => {
  const bytes = bytesOf(text)
  return { text, isFolded, grams: [gramsFrom(bytes, 0), gramsFrom(bytes, 1)] }
}

/** Size of a compiled expression times length of a text: what was measured to stay below 50 ms at its worst. */
const mostForOne = 800_000
const mostForAll = 4_000_000
/** So many characters are looked through for a literal at the cost of one that is tried on an expression. */
const charactersPerWork = 16

/** From this length on a text gets an index: looking through it once more for every rule would take longer. */
const longText = 2048

/** What one decision may cost, and what it has learnt about long texts: shared by all the rules it tries. */
export class Effort {
  #left = mostForAll
  #indexes: Map<string, Uint32Array> | undefined
  #last: { readonly text: string; readonly index: Uint32Array } | undefined

  /** Takes `work` from what is left. False when that is not enough: then it is not done. */
  spend(work: number): boolean {
    if (work > mostForOne || work > this.#left) return false
    this.#left -= work
    return true
  }

  /** Whether a literal stands in a text; `unknown` where only the expression can tell, or where it costs too much. */
  finds(text: string, { text: wanted, isFolded, grams }: Literal): Fit {
    if (text.length >= longText) {
      const index = this.#indexOf(text)
      if (!hasGrams(index, grams[0]) && !hasGrams(index, grams[1])) return "no"
    }
    if (isFolded || !this.spend(text.length / charactersPerWork)) return "unknown"
    return text.includes(wanted) ? "yes" : "no"
  }

  /** The decision has been made: what it needed can serve the next one. */
  done(): void {
    for (const index of this.#indexes?.values() ?? []) if (spare.length < mostSpare) spare.push(index)
    this.#indexes = undefined
    this.#last = undefined
  }

  #indexOf(text: string): Uint32Array {
    // Rule after rule looks at the same text.
    if (this.#last?.text === text) return this.#last.index
    this.#indexes ??= new Map()
    const index = this.#indexes.get(text) ?? indexOf(text)
    this.#indexes.set(text, index)
    this.#last = { text, index }
    return index
  }
}

// An index is a set of grams: hashes of three bytes, of every second place of the text.
const gramBits = 18

// Memory that is made anew for every decision is what makes the slowest of them slow.
const spare: Array<Uint32Array> = []
const mostSpare = 4
const scratch = new Uint16Array(2 ** 16)

const indexOf = (text: string): Uint32Array => {
  const index = spare.pop()?.fill(0) ?? new Uint32Array(2 ** gramBits / 32)
  const pairs = pairsOf(text)
  for (let place = 1, pair = pairs[0] ?? 0; place < pairs.length; place++) {
    const next = pairs[place] ?? 0
    const gram = gramOf(pair | ((next & 0xff) << 16))
    index[gram >> 5] = (index[gram >> 5] ?? 0) | (1 << (gram & 31))
    pair = next
  }
  return index
}

/** The bytes of a text, by twos, and a NUL or more after them. */
const pairsOf = (text: string): Uint16Array => {
  const ending = `\0\0\0`
  // With some room to spare: a text that was cut off is never taken for one in ASCII.
  if (text.length + 8 <= scratch.byteLength) {
    const bytes = Buffer.from(scratch.buffer)
    const length = bytes.write(text)
    if (length === text.length) {
      bytes.fill(0, length, length + ending.length)
      return scratch.subarray(0, (length + ending.length) >> 1)
    }
  }
  const { buffer, byteOffset, byteLength } = bytesOf(text + ending)
  return new Uint16Array(buffer, byteOffset, byteLength >> 1)
}

const hasGrams = (index: Uint32Array, grams: ReadonlyArray<number>): boolean => {
  for (const gram of grams) if (((index[gram >> 5] ?? 0) & (1 << (gram & 31))) === 0) return false
  return true
}

const gramsFrom = (bytes: Uint8Array, start: number): ReadonlyArray<number> => {
  const grams: Array<number> = []
  for (let place = start; place + 2 < bytes.length; place += 2) {
    const [one = 0, two = 0, three = 0] = bytes.subarray(place, place + 3)
    grams.push(gramOf(one | (two << 8) | (three << 16)))
  }
  return grams
}

/** Capital and small letters have the same gram. So have some other characters: an index only ever says no for sure. */
const gramOf = (bytes: number): number => Math.imul(bytes | 0x20_20_20, 0x9e_37_79_b1) >>> (32 - gramBits)

/** Two signs beyond ASCII count as one of its letters where case does not matter. */
const bytesOf = (text: string): Buffer =>
  Buffer.from(Buffer.byteLength(text) === text.length ? text : text.replaceAll("ſ", "s").replaceAll("\u212A", "k"))
