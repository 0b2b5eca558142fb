import { findLines, LineIndex } from "../../matching/find-lines.ts"
import { foldLookAlikes } from "../../matching/look-alikes.ts"
import { allParts, itemsInPart, type Parts } from "../../matching/occurrences.ts"
import type { TextFile } from "../../text-file.ts"
import type { HunkLine } from "../patch.ts"

const searchesBeforeIndex = 20

/** Ways to compare lines by what they show, from strict to loose. A looser one is tried only when a stricter finds nothing. */
export const contentPasses = ["exact", "trailing_space", "surrounding_space", "spacing", "look_alikes"] as const
export type ContentPass = (typeof contentPasses)[number]

/** Passes that forgive nothing but what ends a line. */
export const strictPasses = ["exact", "trailing_space"] as const
export const loosePasses = ["surrounding_space", "spacing", "look_alikes"] as const

/** `literal` compares every byte, the newline included. */
export type LinePass = ContentPass | "literal"

/** Lines of files whose views take too long to be computed between two turns of the event loop. */
const manyLines = 20_000

/** Thrown for a view of a long file that nobody has prepared; see {@link LineViews.prepare}. */
export class ViewNotPrepared extends Error {
  readonly pass: LinePass
  constructor(pass: LinePass) {
    super(`the lines of a long file are not prepared for ${pass}`)
    this.pass = pass
  }
}

/** A file's lines as each pass compares them, computed on first use; those of a long file are prepared beforehand. */
export class LineViews {
  readonly file: TextFile
  readonly #views = new Map<LinePass, ReadonlyArray<string>>()
  readonly #indexes = new Map<LinePass, LineIndex>()
  #searches = 0
  constructor(file: TextFile) {
    this.file = file
  }

  get(pass: LinePass): ReadonlyArray<string> {
    const known = this.#views.get(pass)
    if (known !== undefined) return known
    if (this.#isLong) throw new ViewNotPrepared(pass)
    return allParts(this.prepare(pass))
  }

  /** Computes the view of a pass, and for a long file the index of its lines. */
  *prepare(pass: LinePass): Parts<ReadonlyArray<string>> {
    const view: Array<string> = []
    for (let line = 0; line < this.file.lineCount; line++) {
      if (line % itemsInPart === itemsInPart - 1) yield
      view.push(pass === "literal" ? this.#literalLine(line) : this.#comparableLine(pass, line))
    }
    if (this.#isLong) this.#indexes.set(pass, yield* LineIndex.inParts(view))
    this.#views.set(pass, view)
    return view
  }

  get #isLong(): boolean {
    return this.file.lineCount > manyLines
  }

  /** True when lines of a hunk stand at a line of the file. */
  matchesAt(pass: LinePass, lines: ReadonlyArray<HunkLine>, at: number): boolean {
    if (at < 0 || at + lines.length > this.file.lineCount) return false
    return lines.every((line, index) => this.#isSame(pass, line, at + index))
  }

  /** Every place at which lines of a hunk stand. */
  find(pass: LinePass, lines: ReadonlyArray<HunkLine>, from = 0, to?: number): ReadonlyArray<number> {
    const wanted = lines.map((line) => (pass === "literal" ? literally(line) : comparable(line.text, pass)))
    const places = this.#isIndexed
      ? this.#index(pass).find(wanted, from, to)
      : findLines(this.get(pass), wanted, from, to)
    const last = lines.findIndex(({ noNewline }) => noNewline)
    return last === -1 ? places : places.filter((line) => line + last === this.file.lineCount - 1)
  }

  /** A few searches cost less than an index; with many, each would go over the whole file. */
  get #isIndexed(): boolean {
    return this.#isLong || ++this.#searches > searchesBeforeIndex
  }

  #index(pass: LinePass): LineIndex {
    // The view first: that of a long file has to be prepared, and its index with it.
    const view = this.get(pass)
    const known = this.#indexes.get(pass) ?? allParts(LineIndex.inParts(view))
    this.#indexes.set(pass, known)
    return known
  }

  #isSame(pass: LinePass, { text, noNewline }: HunkLine, line: number): boolean {
    const { file } = this
    if (noNewline && line !== file.lineCount - 1) return false
    if (pass !== "literal") return this.#compared(pass, line) === comparable(text, pass)
    return file.lineBreak === "\n" && file.lineEquals(line, text) && file.endsWithNewline(line) === !noNewline
  }

  /** One line as a pass sees it, without preparing all of them. */
  #compared(pass: ContentPass, line: number): string {
    return this.#views.get(pass)?.[line] ?? this.#comparableLine(pass, line)
  }

  #literalLine(line: number): string {
    const { file } = this
    const end = file.lineBreak === "\n" ? "\n" : "\r"
    return file.line(line) + (file.endsWithNewline(line) ? end : "")
  }

  #comparableLine(pass: ContentPass, line: number): string {
    const text = this.file.line(line)
    return comparable(line === 0 && text.startsWith("\uFEFF") ? text.slice(1) : text, pass)
  }
}

/** A line as a pass sees it. A carriage return at its end never counts. */
export const comparable = (line: string, pass: ContentPass): string => {
  const visible = line.endsWith("\r") ? line.slice(0, -1) : line
  if (pass === "exact") return visible
  if (pass === "trailing_space") return visible.trimEnd()
  if (pass === "surrounding_space") return visible.trim()
  return (pass === "spacing" ? visible : foldLookAlikes(visible)).trim().replace(/\s+/g, " ")
}

const literally = ({ text, noNewline }: HunkLine): string => (noNewline ? text : `${text}\n`)
