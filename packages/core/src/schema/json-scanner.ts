/** Limits of one JSON text. */
export interface JsonLimits {
  readonly bytes: number
  /** Values and containers together. */
  readonly values: number
  /** Nesting of arrays and objects. */
  readonly depth: number
}

/** A limit of {@link JsonLimits} that a text exceeds, and a sentence about it. */
export interface JsonExcess {
  readonly limit: keyof JsonLimits
  readonly message: string
}

/**
 * Incremental scanner that counts the values and the nesting of a JSON text without parsing it. `JSON.parse` turns 16 MB
 * of tiny values into gigabytes of objects; this finds them after the first kilobytes, in constant memory.
 */
export class JsonScanner {
  readonly #limits: JsonLimits
  #bytes = 0
  #values = 0
  #depth = 0
  #inString = false
  #isEscaped = false
  #excess: JsonExcess | undefined
  /** The text's outermost object without what is nested in it, as far as it is short; a character for each byte. */
  #outline = ""
  #stringStart = 0
  #stringBytes = 0

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  get excess(): JsonExcess | undefined {
    return this.#excess
  }

  /** Takes the next bytes of the text. Returns the first limit that was exceeded so far. */
  push(chunk: Uint8Array): JsonExcess | undefined {
    this.#bytes += chunk.length
    if (this.#bytes > this.#limits.bytes) this.#exceed("bytes", `larger than ${this.#limits.bytes} bytes`)
    let at = 0
    while (at < chunk.length) {
      if (this.#inString) at = this.#skipString(chunk, at)
      else this.#structure(chunk[at++] as number)
    }
    return this.#excess
  }

  /**
   * The outermost object of a text that has ended, with empty containers in place of what is nested: enough to see the
   * id of a message that is too large to parse. Undefined if it has no short outline.
   */
  outline(): Readonly<Record<string, unknown>> | undefined {
    try {
      const bytes = Uint8Array.from(this.#outline, (character) => character.charCodeAt(0))
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Readonly<Record<string, unknown>>)
        : undefined
    } catch {
      return undefined
    }
  }

  #structure(byte: number): void {
    if (byte === openBrace || byte === openBracket) {
      this.#depth++
      this.#count()
      if (this.#depth > this.#limits.depth) this.#exceed("depth", `nested more than ${this.#limits.depth} levels deep`)
      if (this.#depth <= 2) this.#note(byte)
      return
    }
    if (byte === closeBrace || byte === closeBracket) {
      if (this.#depth <= 2) this.#note(byte)
      this.#depth--
      return
    }
    if (byte === comma) this.#count()
    if (this.#depth === 1) this.#note(byte)
    if (byte !== quote) return
    this.#inString = true
    this.#stringStart = this.#outline.length
    this.#stringBytes = 0
  }

  #skipString(chunk: Uint8Array, start: number): number {
    let at = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === quote) {
        this.#inString = false
        break
      }
      if (byte === backslash) at++
    }
    this.#isEscaped = at > chunk.length
    const end = Math.min(at + 1, chunk.length)
    if (this.#depth === 1) this.#noteString(chunk.subarray(start, end))
    return end
  }

  #count(): void {
    if (++this.#values > this.#limits.values) this.#exceed("values", `made of more than ${this.#limits.values} values`)
  }

  #exceed(limit: keyof JsonLimits, message: string): void {
    this.#excess ??= { limit, message }
  }

  #note(byte: number): void {
    if (this.#outline.length < longestOutline) this.#outline += String.fromCharCode(byte)
  }

  // A long string is not an id, nor a name of the protocol: it is left empty.
  #noteString(part: Uint8Array): void {
    this.#stringBytes += part.length
    if (this.#stringBytes <= longestNoted) for (const byte of part) this.#note(byte)
    else this.#outline = this.#outline.slice(0, this.#stringStart) + (this.#inString ? "" : '"')
  }
}

const longestNoted = 200
const longestOutline = 4_096
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
