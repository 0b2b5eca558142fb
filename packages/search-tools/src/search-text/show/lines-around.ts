import { isAscii, transcode } from "node:buffer"

import type { MatchPosition } from "../ripgrep/locate-matches.ts"
import { cutLine } from "./cut-line.ts"
import { type AssumedEncoding, utf16Of } from "./text-encoding.ts"

export interface MatchedLine {
  readonly line: number
  readonly content: string
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

/** Size of a line in a reply besides its characters. */
export const lineOverhead = 16

export interface Around {
  readonly reading: AssumedEncoding
  readonly contextLines: number
  /** Lines beyond are not read, {@link lineOverhead} included. */
  readonly maximumCharacters: number
}

/** Finds matching lines and those around them in a file that is handed over in chunks, or in one. */
export class LinesAround {
  readonly #positions: ReadonlyArray<MatchPosition>
  readonly #contextLines: number
  readonly #collector: LineCollector
  readonly #transcoder: Transcoder

  /** The positions come in the order of their lines. */
  constructor(positions: ReadonlyArray<MatchPosition>, around: Around) {
    this.#transcoder = new Transcoder(around.reading)
    this.#positions = positions
    this.#contextLines = around.contextLines
    this.#collector = new LineCollector(positions, around)
  }

  /** False when nothing more is needed. */
  push(chunk: Uint8Array): boolean {
    return this.#collector.push(this.#transcoder.push(chunk))
  }

  /** True when a line that was kept has bytes beyond ASCII, so that its text depends on the encoding. */
  get isBeyondAscii(): boolean {
    return this.#collector.isBeyondAscii
  }

  finish(): ReadonlyArray<MatchedLine> {
    const lines = this.#collector.finish()
    const found: Array<MatchedLine> = []
    for (const { line } of this.#positions) {
      const content = lines.get(line)
      if (content === undefined) continue
      const before = linesFrom(lines, line - this.#contextLines, line - 1)
      const after = linesFrom(lines, line + 1, line + this.#contextLines)
      found.push({ line, content, before, after })
    }
    return found
  }
}

const linesFrom = (lines: ReadonlyMap<number, string>, from: number, to: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let number = from; number <= to; number++) {
    const text = lines.get(number)
    if (text !== undefined) found.push(text)
  }
  return found
}

/** Bytes kept on either side of a line's focus: enough for the characters shown, however long each is. */
const reach = 8192

const lineFeed = 10

/** Keeps the wanted lines of a file that goes by in chunks, and of a long line only what is near its focus. */
class LineCollector {
  isBeyondAscii = false
  readonly #encoding: "utf-8" | "latin1"
  readonly #positions: ReadonlyArray<MatchPosition>
  readonly #columns: ReadonlyMap<number, number>
  readonly #contextLines: number
  readonly #lines = new Map<number, string>()
  #room: number
  /** The first position that the current line is not beyond. */
  #next = 0
  #number = 1
  /** Bytes of the file before the current chunk. */
  #before = 0
  /** In bytes, from 1, what must stay visible of the current line; undefined when it is not wanted. */
  #column: number | undefined
  /** Bytes of the current line that went by. */
  #passed = 0
  #kept: Array<Uint8Array> = []

  constructor(positions: ReadonlyArray<MatchPosition>, { reading, contextLines, maximumCharacters }: Around) {
    this.#encoding = reading === "latin1-bytes" ? "latin1" : "utf-8"
    this.#positions = positions
    this.#columns = new Map(positions.map(({ line, column }) => [line, column]))
    this.#contextLines = contextLines
    this.#room = maximumCharacters
    this.#column = this.#columnWanted()
  }

  /** False when nothing more is needed. */
  push(chunk: Uint8Array): boolean {
    let at = 0
    while (at < chunk.length) {
      at = this.#skip(chunk, at)
      const newline = chunk.indexOf(lineFeed, at)
      const end = newline < 0 ? chunk.length : newline
      this.#keep(chunk, at, end)
      if (newline < 0) {
        // The rest of the line comes later, when the chunk's memory may hold the next one: a copy, also of a Buffer.
        this.#kept = this.#kept.map((piece) => new Uint8Array(piece))
        break
      }
      this.#endLine()
      if (this.#next >= this.#positions.length || this.#room < 0) return false
      at = newline + 1
    }
    this.#before += chunk.length
    return true
  }

  finish(): ReadonlyMap<number, string> {
    if (this.#passed > 0) this.#endLine()
    return this.#lines
  }

  /** Where the next wanted line begins, if that is in this chunk: lines before it need no counting. */
  #skip(chunk: Uint8Array, at: number): number {
    const position = this.#positions[this.#next]
    if (this.#column !== undefined || this.#passed > 0 || position === undefined) return at
    let start = position.offset - this.#before
    // A file that has changed since has no line there, perhaps; then its lines are counted.
    if (start <= at || start >= chunk.length || chunk[start - 1] !== lineFeed) return at
    let number = position.line
    while (number > Math.max(this.#number, position.line - this.#contextLines)) {
      start = start - 2 < at ? at : chunk.lastIndexOf(lineFeed, start - 2) + 1
      number--
    }
    if (start <= at) return at
    this.#number = number
    this.#column = this.#columnWanted()
    return start
  }

  #keep(chunk: Uint8Array, from: number, to: number): void {
    if (this.#column !== undefined) {
      const start = from + Math.max(0, this.#column - 1 - reach - this.#passed)
      const end = Math.min(to, from + this.#column - 1 + reach - this.#passed)
      if (start < end) this.#kept.push(chunk.subarray(start, end))
    }
    this.#passed += to - from
  }

  #endLine(): void {
    if (this.#column !== undefined) {
      const focus = this.#column - 1
      const bytes = Buffer.concat(this.#kept)
      this.isBeyondAscii ||= !isAscii(bytes)
      const piece = { start: Math.max(0, focus - reach), focus, length: this.#passed }
      const text = cutLine(bytes, piece, this.#encoding)
      this.#lines.set(this.#number, text)
      this.#room -= text.length + lineOverhead
    }
    this.#kept = []
    this.#passed = 0
    this.#number++
    this.#column = this.#columnWanted()
  }

  #columnWanted(): number | undefined {
    let position = this.#positions[this.#next]
    while (position !== undefined && position.line + this.#contextLines < this.#number) {
      position = this.#positions[++this.#next]
    }
    if (position === undefined || position.line - this.#contextLines > this.#number) return undefined
    return this.#columns.get(this.#number) ?? 1
  }
}

/**
 * UTF-16 with a byte order mark becomes UTF-8, as ripgrep reads it, and Latin-1 that was searched as such. A mark before
 * UTF-8 goes. The rest passes as it is.
 */
class Transcoder {
  readonly #reading: AssumedEncoding
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #isFirst = true

  constructor(reading: AssumedEncoding) {
    this.#reading = reading
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#reading === "latin1") return transcode(Buffer.from(chunk), "latin1", "utf8")
    if (this.#reading === "latin1-bytes") return chunk
    if (this.#isFirst) {
      this.#isFirst = false
      const utf16 = utf16Of(chunk)
      if (utf16 !== undefined) this.#decoder = new TextDecoder(utf16)
      if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) return chunk.subarray(3)
    }
    return this.#decoder === undefined ? chunk : encoder.encode(this.#decoder.decode(chunk, { stream: true }))
  }
}

const encoder = new TextEncoder()
