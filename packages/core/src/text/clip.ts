import { concatBytes } from "./concat-bytes.ts"
import { countNewlines } from "./count-newlines.ts"

/** Output that was cut to fit a budget. */
export interface Clipped {
  readonly text: string
  readonly truncated: boolean
  /** Bytes that came in, kept or not. */
  readonly totalBytes: number
  readonly omittedBytes: number
  /** Lines that came in, kept or not. A last one without its newline counts too. */
  readonly totalLines: number
  /** Line ends among the bytes left out, as far as those came in. */
  readonly omittedLines: number
}

/**
 * Collects a stream of bytes of any length in bounded memory: the first half of the budget and the last.
 * The part between them is counted and left out.
 */
export class HeadAndTail {
  #headLimit: number
  readonly #tailLimit: number
  readonly #head: Array<Uint8Array> = []
  #headBytes = 0
  /** A ring that is written over and over, so that a flood leaves nothing for the garbage collector. */
  #ring: Uint8Array | undefined
  #ringEnd = 0
  #tailBytes = 0
  #total = 0
  #newlines = 0
  #endsInLine = false

  constructor(limitBytes: number) {
    this.#headLimit = Math.ceil(limitBytes / 2)
    this.#tailLimit = Math.floor(limitBytes / 2)
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#total += chunk.length
    this.#newlines += countNewlines(chunk)
    this.#endsInLine = chunk.at(-1) !== newline
    const forHead = chunk.subarray(0, this.#headLimit - this.#headBytes)
    if (forHead.length > 0) {
      this.#head.push(copyOf(forHead))
      this.#headBytes += forHead.length
    }
    const forTail = chunk.subarray(forHead.length)
    if (forTail.length > 0 && this.#tailLimit > 0) this.#pushTail(forTail)
  }

  /** Counts bytes that are gone already. What comes after them belongs to the tail. */
  skip(bytes: number): void {
    if (bytes <= 0) return
    this.#total += bytes
    this.#headLimit = this.#headBytes
  }

  /** Kept text, with one line in the middle that says how much is missing, and `whereabouts` if given. */
  finish(whereabouts?: string): Clipped {
    const keptTail = this.#lastBytes()
    const totals = { totalBytes: this.#total, totalLines: this.#newlines + (this.#endsInLine ? 1 : 0) }
    if (this.#headBytes + keptTail.length === this.#total) {
      const text = decode(concatBytes([...this.#head, keptTail]))
      return { text, truncated: false, ...totals, omittedBytes: 0, omittedLines: 0 }
    }
    const head = endAtCharacter(concatBytes(this.#head))
    const tail = startAtCharacter(keptTail)
    const omittedBytes = this.#total - head.length - tail.length
    const omittedLines = this.#newlines - countNewlines(head) - countNewlines(tail)
    const lines = omittedLines === 0 ? "" : `, ${omittedLines} ${omittedLines === 1 ? "line" : "lines"}`
    const marker = `[${omittedBytes} bytes left out${lines}${whereabouts === undefined ? "" : `; ${whereabouts}`}]`
    const headText = decode(head)
    return {
      text: `${headText}${headText === "" || headText.endsWith("\n") ? "" : "\n"}${marker}\n${decode(tail)}`,
      truncated: true,
      ...totals,
      omittedBytes,
      omittedLines
    }
  }

  #pushTail(bytes: Uint8Array): void {
    const ring = (this.#ring ??= new Uint8Array(this.#tailLimit))
    const last = bytes.subarray(-this.#tailLimit)
    const untilEnd = last.subarray(0, this.#tailLimit - this.#ringEnd)
    ring.set(untilEnd, this.#ringEnd)
    ring.set(last.subarray(untilEnd.length), 0)
    this.#ringEnd = (this.#ringEnd + last.length) % this.#tailLimit
    this.#tailBytes += bytes.length
  }

  #lastBytes(): Uint8Array {
    if (this.#ring === undefined) return new Uint8Array()
    if (this.#tailBytes < this.#tailLimit) return this.#ring.subarray(0, this.#tailBytes)
    return concatBytes([this.#ring.subarray(this.#ringEnd), this.#ring.subarray(0, this.#ringEnd)])
  }
}

/** Cuts a text to its head and tail, as {@link HeadAndTail} does for streams. */
export const clipText = (text: string, limitBytes: number): Clipped => {
  const collector = new HeadAndTail(limitBytes)
  collector.push(new TextEncoder().encode(text))
  return collector.finish()
}

const newline = 10

// Not `slice`: on a Node buffer that is a view, and the buffer may be filled again.
const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const decode = (bytes: Uint8Array): string => decoder.decode(bytes)

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000

// At most three bytes belong to a character that began before; more of them is not UTF-8 and is left alone.
const startAtCharacter = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start++
  return isContinuation(bytes[start]) ? bytes : bytes.subarray(start)
}

const endAtCharacter = (bytes: Uint8Array): Uint8Array => {
  let last = bytes.length - 1
  while (last >= 0 && last > bytes.length - 4 && isContinuation(bytes[last])) last--
  const lead = bytes[last]
  if (lead === undefined || lead < 0b1100_0000) return bytes
  const length = lead >= 0b1111_0000 ? 4 : lead >= 0b1110_0000 ? 3 : 2
  return last + length > bytes.length ? bytes.subarray(0, last) : bytes
}
