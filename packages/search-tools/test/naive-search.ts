import { isUtf8 } from "node:buffer"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface NaiveMatch {
  readonly path: string
  readonly line: number
  readonly content: string
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

export interface NaiveSearch {
  readonly total: number
  readonly files: number
  readonly shown: ReadonlyArray<NaiveMatch>
}

/** Reads every file and tries the expression on each line: slow, but obviously right. */
export const searchNaively = (
  root: string,
  paths: ReadonlyArray<string>,
  { expression, context, most }: { readonly expression: RegExp; readonly context: number; readonly most: number }
): NaiveSearch => {
  const places = paths.flatMap((path) => {
    const lines = linesOf(join(root, path))
    return lines
      .map((text, index) => ({ path, lines, index, at: placeIn(text, expression) }))
      .filter(({ at }) => at >= 0)
  })
  const shown = places.slice(0, most)
  // A line around a match may be a match itself; then it is cut around its own.
  const focus = new Map(shown.map(({ path, index, at }) => [`${index} ${path}`, at]))
  return {
    total: places.length,
    files: new Set(places.map(({ path }) => path)).size,
    shown: shown.map(({ path, lines, index }) => {
      const texts = lines.map((text, number) => () => cut(text, focus.get(`${number} ${path}`) ?? 0))
      const between = (from: number, to: number) => texts.slice(Math.max(0, from), to).map((text) => text())
      const [content = ""] = between(index, index + 1)
      const before = between(index - context, index)
      return { path, line: index + 1, content, before, after: between(index + 1, index + 1 + context) }
    })
  }
}

/** A text is found by its bytes in UTF-8, too, in a file that is read as Latin-1. */
const placeIn = (text: string, expression: RegExp): number => {
  const at = text.search(expression)
  const isPlain = /^[\p{L}\d]*$/u.test(expression.source)
  if (at >= 0 || !isPlain || !/^[\0-\xFF]*$/u.test(text)) return at
  return Buffer.from(text, "latin1").toString().search(expression)
}

/** None when the file is binary. */
const linesOf = (path: string): ReadonlyArray<string> => {
  const bytes = readFileSync(path)
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  if (!isUtf16 && bytes.includes(0)) return []
  const lines = bytes
    .toString(isUtf16 ? "utf16le" : isUtf8(bytes) ? "utf8" : "latin1")
    .replace(/^\uFEFF/u, "")
    .split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines.map((line) => line.replace(/\r$/u, ""))
}

const cut = (line: string, at: number): string => {
  if (line.length <= 2000) return line
  const from = Math.max(0, Math.min(at - 500, line.length - 2000))
  const to = Math.min(line.length, from + 2000)
  return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`
}
