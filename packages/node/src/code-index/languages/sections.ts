import type { Parse } from "./grammars.ts"
import { languageNamed, type LanguageName } from "./language.ts"
import { parseSymbols, type IndexedSection } from "./parse-symbols.ts"

/** Lines of a window, for files that have no grammar. */
const windowLines = 60

/** Definitions by the grammar, headings of Markdown, else windows of 60 lines. */
export const sectionsOf = (
  source: string,
  language: LanguageName | "markdown" | undefined,
  parse: Parse | undefined
): ReadonlyArray<IndexedSection> => {
  if (language === "markdown") return headings(source) ?? windows(source)
  const parsed =
    language === undefined || parse === undefined ? undefined : parseSymbols(languageNamed(language), parse, source)
  return parsed ?? windows(source)
}

/** One section a heading, down to the next heading, undefined without any; headings in fenced code are text. */
const headings = (source: string): ReadonlyArray<IndexedSection> | undefined => {
  const lines = linesOf(source)
  const found: Array<IndexedSection> = []
  const levels: Array<number> = []
  let fence: string | undefined
  for (const [row, line] of lines.entries()) {
    const [, mark] = /^\s{0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (mark !== undefined) fence = fence === undefined ? mark : line.trim().startsWith(fence) ? undefined : fence
    const [, hashes, title] = fence === undefined ? (/^(#{1,6})\s+(.+?)\s*#*\s*$/.exec(line) ?? []) : []
    if (hashes === undefined || title === undefined) continue
    const level = hashes.length
    const container = found.findLast((_, at) => (levels[at] ?? 0) < level)?.name ?? ""
    const last = found.at(-1)
    if (last !== undefined) found[found.length - 1] = { ...last, endLine: row }
    const name = title.slice(0, 200)
    levels.push(level)
    found.push({
      name,
      kind: "heading",
      container,
      startLine: row + 1,
      endLine: lines.length,
      signature: line.trim().slice(0, 240),
      doc: ""
    })
  }
  return found.length === 0 ? undefined : found
}

const linesOf = (source: string): ReadonlyArray<string> => source.replace(/\n$/, "").split("\n")

const windows = (source: string): ReadonlyArray<IndexedSection> => {
  const count = linesOf(source).length
  return Array.from({ length: Math.min(Math.ceil(count / windowLines), mostWindows) }, (_, index) => ({
    name: "",
    kind: "lines",
    container: "",
    startLine: index * windowLines + 1,
    endLine: Math.min((index + 1) * windowLines, count),
    signature: "",
    doc: ""
  }))
}

/** Beyond that a file is data. */
const mostWindows = 200
