/** A value that has no canonical form: not plain JSON, or nested too deeply. */
export class UnreadableValue extends Error {
  override readonly name = "UnreadableValue"
}

const maximumDepth = 64

/**
 * The one way arguments are written down for rules and hashes: compact JSON, keys in the order they come
 * (schema order, for decoded arguments), escapes as `JSON.stringify` makes them, and U+10FFFF escaped as well.
 */
export const stableJson = (value: unknown): string => jsonPieces(value).whole()

/**
 * Stable JSON text cut at the quotes that open and close strings: pieces at even places are outside of strings,
 * pieces at odd places are a string's inside, escaped. A quote inside a string is part of its piece.
 */
export interface JsonPieces {
  readonly length: number
  readonly at: (place: number) => string
  readonly join: (separator: string) => string
  /** The text as a whole. */
  readonly whole: () => string
}

export const jsonPieces = (value: unknown): JsonPieces => {
  const pieces: Array<string> = []
  let outside = ""

  const addString = (text: string): void => {
    pieces.push(outside, text)
    outside = ""
  }
  const add = (inner: unknown, depth: number): void => {
    if (depth > maximumDepth) throw new UnreadableValue("the arguments are nested too deeply to be judged")
    if (typeof inner === "string") return addString(inner)
    if (inner === null || typeof inner === "boolean") return void (outside += String(inner))
    if (typeof inner === "number" && Number.isFinite(inner)) return void (outside += JSON.stringify(inner))
    if (Array.isArray(inner)) return addList(inner, depth)
    if (!isPlainObject(inner)) throw new UnreadableValue(`the arguments contain a ${kindOf(inner)}, which is not JSON`)
    outside += "{"
    let isFirst = true
    for (const [key, property] of Object.entries(inner)) {
      if (property === undefined) continue
      if (!isFirst) outside += ","
      isFirst = false
      addString(key)
      outside += ":"
      add(property, depth + 1)
    }
    outside += "}"
  }
  const addList = (list: ReadonlyArray<unknown>, depth: number): void => {
    outside += "["
    for (const [index, item] of list.entries()) {
      if (index > 0) outside += ","
      add(item, depth + 1)
    }
    outside += "]"
  }

  add(value, 0)
  pieces.push(outside)
  return escapedWhenRead(pieces, value)
}

// A long text is escaped when a rule wants to see it, and most rules are done before.
const escapedWhenRead = (pieces: ReadonlyArray<string>, value: unknown): JsonPieces => {
  const made: Array<string | undefined> = []
  const at = (place: number): string =>
    place % 2 === 0 ? (pieces[place] ?? "") : (made[place] ??= escaped(pieces[place] ?? ""))
  const join = (separator: string): string => pieces.map((_, place) => at(place)).join(separator)
  // Where nothing has been escaped yet, all of it is at once.
  const whole = (): string => (made.length > 0 ? join('"') : withoutReserved(JSON.stringify(value)))
  return { length: pieces.length, at, join, whole }
}

/** A character that serialized arguments never contain: it is always escaped. Patterns use it as a mark. */
export const reservedCharacter = "\u{10FFFF}"

const escaped = (text: string): string => withoutReserved(JSON.stringify(text).slice(1, -1))

const withoutReserved = (json: string): string => json.replaceAll(reservedCharacter, String.raw`\udbff\udfff`)

/** Deep equality of two JSON values; the order of keys is ignored. */
export const isSameData = (one: unknown, other: unknown): boolean => {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      other.every((item, place) => isSameData(one[place], item))
    )
  }
  if (!isPlainObject(one) || !isPlainObject(other)) throw new UnreadableValue("the arguments are not JSON")
  for (const key in other) {
    if (other[key] !== undefined && !(Object.hasOwn(one, key) && isSameData(one[key], other[key]))) return false
  }
  for (const key in one) if (one[key] !== undefined && !Object.hasOwn(other, key)) return false
  return true
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const kindOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? (value.constructor?.name ?? "object") : typeof value
