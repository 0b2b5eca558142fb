import { Buffer, isUtf8 } from "node:buffer"

/** How a file's bytes spell text. The last three are told by a byte order mark or by bytes that are not UTF-8. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin-1"

/** A stretch of text, by offset, and what takes its place. */
export interface TextReplacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * The text of a file, with the bytes it came from. Replacing a stretch keeps every other byte as it was:
 * what is written back is cut from the original, never encoded again.
 */
export class TextFile {
  readonly encoding: Encoding
  readonly #original: Original
  readonly #pieces: ReadonlyArray<Piece>
  #text: string | undefined
  #lineStarts: Uint32Array | undefined
  #lineBreak: "\n" | "\r" | undefined

  private constructor(original: Original, pieces: ReadonlyArray<Piece>, text?: string) {
    this.encoding = original.encoding
    this.#original = original
    this.#pieces = pieces
    this.#text = text
  }

  /** Undefined for the bytes of a binary file. */
  static decode(bytes: Uint8Array): TextFile | undefined {
    const original = decodeBytes(bytes)
    return original && new TextFile(original, [{ start: 0, end: original.text.length }], original.text)
  }

  /** A file that is not there yet: UTF-8 without a byte order mark. */
  static of(text: string): TextFile {
    const original: Original = { encoding: "utf-8", bytes: new Uint8Array(), mark: 0, text: "" }
    return new TextFile(original, [{ text }], text)
  }

  /** All of it. The byte order mark of UTF-8 is its first character; that of UTF-16 is no part of it. */
  get text(): string {
    return (this.#text ??= this.#pieces.map((piece) => this.#textOf(piece)).join(""))
  }

  /** Line ending of the file: a line feed, or a carriage return in a file that has only those between its lines. */
  get lineBreak(): "\n" | "\r" {
    return (this.#lineBreak ??= !this.text.includes("\n") && /\r[^]/.test(this.text) ? "\r" : "\n")
  }

  /** View of the file with carriage returns as characters of its lines, as git and diff see them. */
  withLineFeedsOnly(): TextFile {
    const file = new TextFile(this.#original, this.#pieces, this.#text)
    file.#lineBreak = "\n"
    return file
  }

  /** A newline ends a line: `a\nb\n` has two lines, an empty file none. */
  get lineCount(): number {
    return this.#starts.length
  }

  /** Where a line begins; the end of the text for the line after the last. */
  lineStart(line: number): number {
    return this.#starts[line] ?? this.text.length
  }

  /** A line without its newline. A carriage return before the newline is part of it. */
  line(line: number): string {
    return this.text.slice(this.lineStart(line), this.#lineEnd(line))
  }

  lineEquals(line: number, text: string): boolean {
    const start = this.lineStart(line)
    return this.#lineEnd(line) - start === text.length && this.text.startsWith(text, start)
  }

  /** Ending of a line: `\n`, `\r\n`, a lone `\r`, or nothing for a last line without a newline. */
  terminator(line: number): "\n" | "\r\n" | "\r" | "" {
    if (!this.endsWithNewline(line)) return ""
    if (this.lineBreak === "\r") return "\r"
    return this.text[this.#lineEnd(line) - 1] === "\r" && this.#lineEnd(line) > this.lineStart(line) ? "\r\n" : "\n"
  }

  /** False only for a last line that has no newline. */
  endsWithNewline(line: number): boolean {
    return line + 1 < this.lineCount || this.text.endsWith(this.lineBreak)
  }

  /** The line that an offset lies in, from 0. */
  lineAt(offset: number): number {
    const starts = this.#starts
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** The file with some stretches replaced; they are in order and do not overlap. */
  replace(replacements: ReadonlyArray<TextReplacement>): TextFile {
    const pieces: Array<Piece> = []
    const cutter = new PieceCutter(this.#pieces)
    for (const { start, end, text } of replacements) {
      cutter.copyUpTo(start, pieces)
      cutter.skipTo(end)
      if (text !== "") pieces.push({ text })
    }
    cutter.copyUpTo(Number.POSITIVE_INFINITY, pieces)
    return new TextFile(this.#original, pieces)
  }

  /**
   * The one stretch of `before` that has to be replaced to get this file. A file that was made from `before`
   * knows it without looking at the text.
   */
  changeFrom(before: TextFile): TextReplacement {
    return before.#original === this.#original && before.#isPristine
      ? this.#ownChange()
      : changeBetween(before.text, this.text)
  }

  get #isPristine(): boolean {
    const [piece] = this.#pieces
    return (
      this.#pieces.length === 1 && piece !== undefined && "start" in piece && piece.end === this.#original.text.length
    )
  }

  #ownChange(): TextReplacement {
    const { length } = this.#original.text
    const head = this.#pieces[0]
    const tail = this.#pieces.at(-1)
    const start = head !== undefined && "start" in head && head.start === 0 ? head.end : 0
    const end =
      tail !== undefined && "start" in tail && tail.end === length && tail.start >= start ? tail.start : length
    const between = this.#pieces.slice(start === 0 ? 0 : 1, end === length ? undefined : -1)
    return { start, end, text: between.map((piece) => this.#textOf(piece)).join("") }
  }

  #textOf(piece: Piece): string {
    return "text" in piece ? piece.text : this.#original.text.slice(piece.start, piece.end)
  }

  /** The first character of a text that this file's encoding has no bytes for. */
  firstUnencodable(text: string): string | undefined {
    if (this.encoding === "latin-1") return /[^\p{ASCII}\u0080-\u00ff]/u.exec(text)?.[0]
    return text.isWellFormed() ? undefined : /\p{Surrogate}/u.exec(text)?.[0]
  }

  /** Content to write, in pieces that share the original's memory. */
  encode(): ReadonlyArray<Uint8Array> {
    const { bytes, mark } = this.#original
    const offsets = new ByteOffsets(this.#original)
    const encoded: Array<Uint8Array> = mark === 0 ? [] : [bytes.subarray(0, mark)]
    for (const piece of this.#pieces) {
      encoded.push(
        "text" in piece
          ? encodeText(piece.text, this.encoding)
          : bytes.subarray(offsets.of(piece.start), offsets.of(piece.end))
      )
    }
    const size = encoded.reduce((sum, piece) => sum + piece.length, 0)
    return size > smallBytes ? joinSmall(encoded) : [Buffer.concat(encoded, size)]
  }

  get #starts(): Uint32Array {
    return (this.#lineStarts ??= lineStartsOf(this.text, this.lineBreak))
  }

  #lineEnd(line: number): number {
    const next = this.#starts[line + 1]
    if (next !== undefined) return next - 1
    return this.text.endsWith(this.lineBreak) ? this.text.length - 1 : this.text.length
  }
}

/** Pieces with runs of small ones joined: each piece is hashed and written by calls of its own. */
const joinSmall = (pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const joined: Array<Uint8Array> = []
  let small: Array<Uint8Array> = []
  let size = 0
  const flush = (): void => {
    if (size > 0) joined.push(small.length === 1 ? (small[0] ?? new Uint8Array()) : Buffer.concat(small, size))
    small = []
    size = 0
  }
  for (const piece of pieces) {
    if (piece.length < smallPiece) {
      small.push(piece)
      size += piece.length
      if (size < smallPiece) continue
    }
    flush()
    if (piece.length >= smallPiece) joined.push(piece)
  }
  flush()
  return joined
}

const smallPiece = 64 * 1024

// The lines of a large file are counted first: a list that grows takes many times the room.
const lineStartsOf = (text: string, lineBreak: string): Uint32Array => {
  const starts = text.length > smallBytes ? new Uint32Array(countLines(text, lineBreak)) : new Array<number>()
  let line = 0
  for (let start = 0; start < text.length; start = nextLine(text, lineBreak, start)) starts[line++] = start
  return starts instanceof Uint32Array ? starts : new Uint32Array(starts)
}

const countLines = (text: string, lineBreak: string): number => {
  let count = 0
  for (let start = 0; start < text.length; start = nextLine(text, lineBreak, start)) count++
  return count
}

const nextLine = (text: string, lineBreak: string, start: number): number => {
  const newline = text.indexOf(lineBreak, start)
  return newline === -1 ? text.length : newline + 1
}

const changeBetween = (before: string, after: string): TextReplacement => {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++
  let end = 0
  while (
    end < most - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end++
  }
  return { start, end: before.length - end, text: after.slice(start, after.length - end) }
}

interface Original {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
  /** Bytes before the text. */
  readonly mark: number
  readonly text: string
}

/** Either a stretch of the original text or new text. */
type Piece = { readonly start: number; readonly end: number } | { readonly text: string }

// Below this, one buffer costs less than writing and hashing piece by piece.
const smallBytes = 1024 * 1024

/** Which UTF-16 a byte order mark tells of. That of UTF-32 begins alike and is none. */
const utf16Of = (bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  return isLittle && !(bytes[2] === 0 && bytes[3] === 0) ? "utf-16le" : undefined
}

/** The text of a file; undefined for a binary one, which has a NUL character somewhere, as ripgrep tells them apart. */
const decodeBytes = (bytes: Uint8Array): Original | undefined => {
  const original = decodeMarked(bytes)
  if (original !== undefined) return original.text.includes("\0") ? undefined : original
  if (bytes.includes(0)) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!isUtf8(bytes)) return { encoding: "latin-1", bytes, mark: 0, text: buffer.toString("latin1") }
  return { encoding: "utf-8", bytes, mark: 0, text: buffer.toString("utf8") }
}

/** UTF-16 with a byte order mark. */
const decodeMarked = (bytes: Uint8Array): Original | undefined => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const utf16 = utf16Of(bytes)
  if (utf16 === "utf-16le") return { encoding: utf16, bytes, mark: 2, text: buffer.toString("utf16le", 2) }
  if (utf16 === "utf-16be") {
    // Turned round and back again in place: a copy would be as large as the file.
    const even = buffer.subarray(2, 2 + 2 * Math.floor((bytes.length - 2) / 2)).swap16()
    const text = even.toString("utf16le")
    even.swap16()
    return { encoding: utf16, bytes, mark: 2, text }
  }
  return undefined
}

const encodeText = (text: string, encoding: Encoding): Uint8Array => {
  if (encoding === "latin-1") return Buffer.from(text, "latin1")
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  const little = Buffer.from(text, "utf16le")
  return encoding === "utf-16le" ? little : little.swap16()
}

/** Turns offsets in the original text into offsets in its bytes; they must be asked for in order. */
class ByteOffsets {
  readonly #original: Original
  #offset = 0
  #byte: number
  constructor(original: Original) {
    this.#original = original
    this.#byte = original.mark
  }
  of(offset: number): number {
    const { bytes, text } = this.#original
    // A last odd byte of UTF-16 is no character, and stays.
    if (offset === text.length) return bytes.length
    this.#byte += this.#bytesBetween(this.#offset, offset)
    this.#offset = offset
    return this.#byte
  }
  #bytesBetween(start: number, end: number): number {
    const { encoding, bytes, mark, text } = this.#original
    if (encoding === "utf-16le" || encoding === "utf-16be") return 2 * (end - start)
    const isOneByteEach = encoding === "latin-1" || bytes.length - mark === text.length
    return isOneByteEach ? end - start : Buffer.byteLength(text.slice(start, end), "utf8")
  }
}

/** Copies pieces up to an offset, splitting the one that the offset falls into. */
class PieceCutter {
  readonly #pieces: ReadonlyArray<Piece>
  #index = 0
  /** How much of the piece at `index` is used up. */
  #used = 0
  #offset = 0
  constructor(pieces: ReadonlyArray<Piece>) {
    this.#pieces = pieces
  }
  copyUpTo(offset: number, into: Array<Piece>): void {
    this.#advance(offset, (piece) => into.push(piece))
  }
  skipTo(offset: number): void {
    this.#advance(offset, () => undefined)
  }
  #advance(offset: number, take: (piece: Piece) => void): void {
    while (this.#offset < offset) {
      const piece = this.#pieces[this.#index]
      if (piece === undefined) return
      const length = "text" in piece ? piece.text.length : piece.end - piece.start
      const taken = Math.min(length - this.#used, offset - this.#offset)
      if (taken > 0) take(sliceOf(piece, this.#used, this.#used + taken))
      this.#offset += taken
      this.#used += taken
      if (this.#used === length) {
        this.#index++
        this.#used = 0
      }
    }
  }
}

const sliceOf = (piece: Piece, from: number, to: number): Piece =>
  "text" in piece ? { text: piece.text.slice(from, to) } : { start: piece.start + from, end: piece.start + to }
