/**
 * Anchors name lines by content: `12:k3x9a` is line 12, and a hash over it and the lines before and behind. An anchor
 * still fits when lines elsewhere were added or removed, and no longer when the line or a neighbor has changed.
 */
export const anchorsOf = (text: string): ReadonlyArray<string> => {
  const lines = contentLines(text)
  return lines.map((_line, index) => `${index + 1}:${hashAt(lines, index)}`)
}

/** A line that an anchor fits. */
export interface AnchoredLine {
  /** From 0. */
  readonly index: number
  /** Where the line begins and where the next one does. */
  readonly start: number
  readonly end: number
}

export type AnchorProblem = "malformed" | "missing" | "ambiguous"

/** Finds lines by their anchors in one text. */
export class AnchorIndex {
  readonly #lines: ReadonlyArray<string>
  readonly #starts: ReadonlyArray<number>
  readonly #byHash: ReadonlyMap<string, ReadonlyArray<number>>

  constructor(text: string) {
    this.#lines = contentLines(text)
    const starts = [text.startsWith("\uFEFF") ? 1 : 0]
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
    this.#starts = [...starts.slice(0, this.#lines.length), text.length]
    this.#byHash = Map.groupBy(this.#lines.keys(), (index) => hashAt(this.#lines, index))
  }

  /**
   * The line that an anchor fits. Where several lines are alike, the number decides only if the text is known to be the
   * one that was read, since otherwise another line may have taken that place.
   */
  find(anchor: string, isUnchanged: boolean): AnchoredLine | AnchorProblem {
    const [, number, hash] = /^\s*(\d{1,9}):([0-9a-z]{5})(?:\t|\s*$)/.exec(anchor) ?? []
    if (number === undefined || hash === undefined) return "malformed"
    const found = this.#byHash.get(hash) ?? []
    const asNumbered = Number(number) - 1
    const [first] = found
    if (first === undefined) return "missing"
    const index = found.length === 1 ? first : isUnchanged && found.includes(asNumbered) ? asNumbered : undefined
    if (index === undefined) return "ambiguous"
    return { index, start: this.#starts[index] ?? 0, end: this.#starts[index + 1] ?? 0 }
  }
}

/** Lines without their ends and without a byte order mark. A newline at the end of the text begins no line. */
const contentLines = (text: string): ReadonlyArray<string> => {
  const lines = text.replace(/^\uFEFF/, "").split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
}

// FNV-1a over UTF-16 units. A separator that no line contains keeps "a" + "b" apart from "ab" + "".
const hashAt = (lines: ReadonlyArray<string>, index: number): string => {
  let hash = 0x81_1c_9d_c5
  for (const line of [lines[index - 1] ?? "\n", lines[index] ?? "", lines[index + 1] ?? "\n"]) {
    for (let at = 0; at <= line.length; at++) {
      hash = Math.imul(hash ^ (at < line.length ? line.charCodeAt(at) : 10), 0x01_00_01_93)
    }
  }
  return ((hash ^ (hash >>> 25)) >>> 0).toString(36).padStart(7, "0").slice(-5)
}
