/** A text that must stand in whatever an expression matches. */
export interface Literal {
  readonly text: string
  /** True where capital and small letters are the same. */
  readonly isFolded: boolean
  /** What an index has if it has the literal: one list or the other, depending on where in a text it stands. */
  readonly grams: readonly [ReadonlyArray<number>, ReadonlyArray<number>]
}

export const literal = (text: string, isFolded = false): Literal => {
  const bytes = bytesOf(text)
  return { text, isFolded, grams: [gramsFrom(bytes, 0), gramsFrom(bytes, 1)] }
}

/** The grams of a text: hashes of three bytes, of every second place. It only ever says for sure what is not there. */
export interface GramIndex {
  readonly bits: Uint32Array
  /** A short text needs few bits: a gram's first ones. */
  readonly shift: number
}

const gramBits = 20
const fewestBits = 10

export const indexOf = (text: string): GramIndex => {
  const shift = gramBits - Math.max(fewestBits, Math.min(gramBits, 33 - Math.clz32(text.length)))
  const size = 2 ** (gramBits - shift - 5)
  const place = spare.findIndex(({ length }) => length === size)
  const bits = place < 0 ? new Uint32Array(size) : (spare.splice(place, 1)[0] ?? new Uint32Array(size)).fill(0)
  const pairs = pairsOf(text)
  for (let place = 1, pair = pairs[0] ?? 0; place < pairs.length; place++) {
    const next = pairs[place] ?? 0
    const gram = gramOf(pair | ((next & 0xff) << 16)) >>> shift
    bits[gram >>> 5] = (bits[gram >>> 5] ?? 0) | (1 << (gram & 31))
    pair = next
  }
  return { bits, shift }
}

export const mayHave = (index: GramIndex, { grams: [even, odd] }: Literal): boolean =>
  hasGrams(index, even, 0, even.length) || hasGrams(index, odd, 0, odd.length)

/** Whether an index has these grams, which stand one after the other in a list. */
export const hasGrams = (
  { bits, shift }: GramIndex,
  grams: ArrayLike<number>,
  from: number,
  until: number
): boolean => {
  for (let place = from; place < until; place++) {
    const gram = (grams[place] ?? 0) >>> shift
    if (((bits[gram >>> 5] ?? 0) & (1 << (gram & 31))) === 0) return false
  }
  return true
}

/** The index is not needed any more: its memory can serve the next one. */
export const giveBack = ({ bits }: GramIndex): void => {
  if (bits.length >= leastSpare && spare.length < mostSpare) spare.push(bits)
}

// Kept for the next decision: allocating it anew each time is what made the slowest ones slow.
const spare: Array<Uint32Array> = []
const mostSpare = 4
const leastSpare = 2048
const scratch = new Uint16Array(2 ** 16)

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

const gramsFrom = (bytes: Uint8Array, start: number): ReadonlyArray<number> => {
  const grams: Array<number> = []
  for (let place = start; place + 2 < bytes.length; place += 2) {
    const [one = 0, two = 0, three = 0] = bytes.subarray(place, place + 3)
    grams.push(gramOf(one | (two << 8) | (three << 16)))
  }
  return grams
}

/** Capital and small letters have the same gram. So have some other characters. */
const gramOf = (bytes: number): number => Math.imul(bytes | 0x20_20_20, 0x9e_37_79_b1) >>> (32 - gramBits)

/** Two signs beyond ASCII count as one of its letters where case does not matter. */
const bytesOf = (text: string): Buffer =>
  Buffer.from(Buffer.byteLength(text) === text.length ? text : text.replaceAll("ſ", "s").replaceAll("\u212A", "k"))
