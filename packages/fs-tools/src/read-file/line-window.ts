import { isUtf8 } from "node:buffer"

import { countNewlines } from "@haft/core"

/** Which lines of a file are wanted, counted from 1, and how much of them may be kept. */
export interface LineWindowRequest {
  readonly start: number
  /** Inclusive; to the end when absent. */
  readonly end?: number
  /** Beyond this many lines only the first and the last half are kept. */
  readonly maxLines?: number
  /** Beyond this many bytes the rest is dropped, at the end of a line where there is one, else of a character. */
  readonly maxBytes: number
}

export interface LineWindowResult {
  /** The selected lines, exactly; the first half where the middle was left out. */
  readonly head: Uint8Array
  /** The last half, empty unless lines were left out in the middle. */
  readonly tail: Uint8Array
  /** Lines in the whole file. */
  readonly totalLines: number
  /** Lines between `start` and `end` that the file has. */
  readonly selectedLines: number
  readonly keptLines: number
  /** True when `maxBytes` cut the selection short. */
  readonly cutByBytes: boolean
  readonly isUtf8: boolean
  readonly hasNul: boolean
}

const newline = 0x0a
const blockSize = 16_384

/**
 * Cuts a range of lines out of a file that passes by in chunks. No line outside the range becomes a
 * string or is kept, so a range deep inside a huge file costs little more than reading the file.
 */
export class LineWindow {
  readonly #range: LineWindowRequest
  readonly #end: number
  readonly #headLimit: number
  readonly #utf8 = new Utf8Check()
  readonly #head: Array<Uint8Array> = []
  #tail: Array<{ readonly bytes: Uint8Array; readonly newlines: number }> = []
  #tailNewlines = 0
  #tailBytes = 0
  #keptBytes = 0
  #cutByBytes = false
  #hasNul = false
  /** The line the next byte belongs to. */
  #line = 1
  #endsWithNewline = true

  constructor(range: LineWindowRequest) {
    this.#range = range
    this.#end = range.end ?? Number.POSITIVE_INFINITY
    this.#headLimit = range.start + (range.maxLines ?? Number.POSITIVE_INFINITY)
  }

  /** False once bytes went by that UTF-8 text does not have. */
  get isText(): boolean {
    return this.#utf8.isValid && !this.#hasNul
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#utf8.push(chunk)
    this.#hasNul ||= chunk.includes(0)
    this.#endsWithNewline = chunk[chunk.length - 1] === newline
    let at = 0
    at = this.#skipTo(this.#range.start, chunk, at)
    if (this.#line >= this.#range.start) at = this.#keepHead(chunk, at)
    if (this.#line >= this.#headLimit && this.#line <= this.#end) at = this.#keepTail(chunk, at)
    this.#line += countNewlines(chunk.subarray(at))
  }

  finish(): LineWindowResult {
    const totalLines = this.#endsWithNewline ? this.#line - 1 : this.#line
    const { start, maxLines } = this.#range
    const selectedLines = Math.max(0, Math.min(this.#end, totalLines) - start + 1)
    const facts = { totalLines, selectedLines, isUtf8: this.#utf8.finish(), hasNul: this.#hasNul }
    const head = joined(this.#head)
    if (this.#cutByBytes) {
      const whole = head.subarray(0, head.lastIndexOf(newline) + 1 || endOfLastCharacter(head))
      return { ...facts, head: whole, tail: nothing, keptLines: linesIn(whole), cutByBytes: true }
    }
    if (maxLines === undefined || selectedLines <= maxLines) {
      return { ...facts, head, tail: nothing, keptLines: selectedLines, cutByBytes: false }
    }
    const half = Math.floor(maxLines / 2)
    const headEnd = offsetAfterLines(head, maxLines - half)
    const rest = Buffer.concat([head.subarray(headEnd), ...this.#tail.map(({ bytes }) => bytes)])
    return {
      ...facts,
      head: head.subarray(0, headEnd),
      tail: rest.subarray(offsetOfLastLines(rest, half)),
      keptLines: maxLines,
      cutByBytes: false
    }
  }

  /** Moves on until `line` begins or the chunk ends. */
  #skipTo(line: number, chunk: Uint8Array, from: number): number {
    let at = this.#skipBlocks(line, chunk, from)
    while (this.#line < line) {
      const next = chunk.indexOf(newline, at)
      if (next === -1) return chunk.length
      this.#line++
      at = next + 1
    }
    return at
  }

  /** Counting is quicker than finding each newline: only in the block where the line begins are they looked for. */
  #skipBlocks(line: number, chunk: Uint8Array, from: number): number {
    let at = from
    while (this.#line < line && at < chunk.length) {
      const block = chunk.subarray(at, at + blockSize)
      const newlines = countNewlines(block)
      if (this.#line + newlines >= line) break
      this.#line += newlines
      at += block.length
    }
    return at
  }

  #keepHead(chunk: Uint8Array, from: number): number {
    const until = this.#skipTo(Math.min(this.#headLimit, this.#end + 1), chunk, from)
    if (until > from) this.#keep(chunk.subarray(from, until))
    return until
  }

  #keep(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, this.#range.maxBytes - this.#keptBytes)
    this.#cutByBytes ||= kept.length < bytes.length
    if (kept.length > 0) this.#head.push(copyOf(kept))
    this.#keptBytes += kept.length
  }

  #keepTail(chunk: Uint8Array, from: number): number {
    const before = this.#line
    const until = this.#skipTo(this.#end + 1, chunk, from)
    if (this.#cutByBytes) return until
    const newlines = this.#line - before
    this.#tail.push({ bytes: copyOf(chunk.subarray(from, until)), newlines })
    this.#tailNewlines += newlines
    this.#tailBytes += until - from
    const needed = Math.floor((this.#range.maxLines ?? 0) / 2) + 1
    for (
      let first = this.#tail[0];
      first !== undefined && this.#tailNewlines - first.newlines > needed;
      first = this.#tail[0]
    ) {
      this.#tailNewlines -= first.newlines
      this.#tailBytes -= first.bytes.length
      this.#tail.shift()
    }
    if (this.#tailBytes > this.#range.maxBytes) {
      this.#cutByBytes = true
      this.#tail = []
    }
    return until
  }
}

// Not `slice`: on a Node buffer that is a view, and chunks are read into the same buffer again.
const copyOf = (bytes: Uint8Array): Uint8Array => Buffer.from(bytes)

const nothing: Uint8Array = new Uint8Array()

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first = nothing] = pieces
  return pieces.length < 2 ? first : Buffer.concat(pieces)
}

/** How many lines a piece of text has; a last one without newline counts. */
const linesIn = (bytes: Uint8Array): number =>
  countNewlines(bytes) + (bytes.length > 0 && bytes[bytes.length - 1] !== newline ? 1 : 0)

const offsetAfterLines = (bytes: Uint8Array, lines: number): number => {
  let at = 0
  for (let line = 0; line < lines; line++) at = bytes.indexOf(newline, at) + 1
  return at
}

const offsetOfLastLines = (bytes: Uint8Array, lines: number): number => {
  let at = bytes.length - 1
  for (let line = 0; line < lines; line++) at = bytes.lastIndexOf(newline, at - 1)
  return at + 1
}

/** Says whether a stream is UTF-8, also where a character is split between two chunks. */
class Utf8Check {
  isValid = true
  #rest: Uint8Array = nothing

  push(chunk: Uint8Array): void {
    if (!this.isValid) return
    const whole = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = endOfLastCharacter(whole)
    this.isValid = isUtf8(whole.subarray(0, end))
    this.#rest = end < whole.length ? copyOf(whole.subarray(end)) : nothing
  }

  finish(): boolean {
    return this.isValid && this.#rest.length === 0
  }
}

// Up to three bytes at the end may begin a character that the next chunk completes.
const endOfLastCharacter = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}
