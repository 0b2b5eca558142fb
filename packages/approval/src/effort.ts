import type { Fit } from "./linear-expression.ts"

/** A text that must stand in whatever an expression matches. */
export interface Literal {
  readonly text: string
  /** True where capital and small letters are the same. */
  readonly isFolded: boolean
  readonly grams: ReadonlyArray<number>
}

export const literal = (text: string, isFolded: boolean): Literal => ({ text, isFolded, grams: [...gramsIn(text)] })

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
  readonly #indexes = new Map<string, Uint32Array>()

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
      for (const gram of grams) if (!isSet(index, gram)) return "no"
    }
    if (isFolded || !this.spend(text.length / charactersPerWork)) return "unknown"
    return text.includes(wanted) ? "yes" : "no"
  }

  #indexOf(text: string): Uint32Array {
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    const index = indexOf(text)
    this.#indexes.set(text, index)
    return index
  }
}

const gramBits = 18

const indexOf = (text: string): Uint32Array => {
  const index = new Uint32Array(2 ** gramBits / 32)
  const codes = codesOf(text)
  let gram = 0
  for (let place = 0; place < codes.length; place++) {
    gram = nextGram(gram, codes[place] ?? 0)
    index[gram >> 5]! |= 1 << (gram & 31)
  }
  return index
}

// An array is read faster than a text.
const codesOf = (text: string): Uint8Array | Uint16Array => {
  if (Buffer.byteLength(text) === text.length) return Buffer.from(text, "latin1")
  const { buffer, byteOffset } = Buffer.from(text, "utf16le")
  return new Uint16Array(buffer, byteOffset, text.length)
}

const isSet = (index: Uint32Array, gram: number): boolean => ((index[gram >> 5] ?? 0) & (1 << (gram & 31))) !== 0

function* gramsIn(text: string): Generator<number> {
  let gram = 0
  for (let place = 0; place < text.length; place++) {
    gram = nextGram(gram, text.charCodeAt(place))
    if (place >= 2) yield gram
  }
}

/** A number made of the last three characters: each moves those before it out of the way. */
const nextGram = (gram: number, code: number): number => ((gram << 6) ^ folded(code)) & (2 ** gramBits - 1)

/** Small letters, and the two signs beyond ASCII that count as one of them where case does not matter. */
const folded = (code: number): number => {
  if (code < 0x5b) return code >= 0x41 ? code + 0x20 : code
  if (code === 0x17f) return 0x73
  return code === 0x212a ? 0x6b : code
}
