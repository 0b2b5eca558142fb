import { fingerprintBytes } from "../workspace/content.ts"
import type { FileRow, IndexedFile, SectionRow } from "./database.ts"
import type { Parse } from "./languages/grammars.ts"
import type { LanguageName } from "./languages/language.ts"
import type { IndexedSection } from "./languages/parse-symbols.ts"
import { sectionsOf } from "./languages/sections.ts"
import { nameTerms, rowText, termsOf } from "./terms.ts"

/** Larger files are data or bundles: found by their path alone. */
export const mostFileBytes = 1024 * 1024

/** Metadata of a file before it is read. */
export type FileStat = Omit<IndexedFile, "id" | "hash">

/** Content of a file as text; undefined where it is binary. */
const textOf = (content: Uint8Array): string | undefined => {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (bytes.subarray(0, 8192).includes(0)) return undefined
  return bytes.toString("utf8")
}

/** A file as rows of the index. */
export const fileRow = (
  stat: FileStat,
  content: Uint8Array | undefined,
  language: { readonly name: LanguageName | "markdown" | undefined; readonly parse: Parse | undefined }
): FileRow => {
  const text = content === undefined ? undefined : textOf(content)
  const source = text === undefined || isGenerated(stat.path, text) ? "" : text
  const sections = source === "" ? [] : sectionsOf(source, language.name, language.parse)
  const lines = source === "" ? [] : source.split("\n")
  return {
    ...stat,
    hash: content === undefined ? "" : fingerprintBytes(content),
    pathText: rowText(pathTerms(stat.path)),
    namesText: rowText(sections.flatMap(({ name }) => nameTerms(name))),
    bodyText: rowText(termsOf(source)),
    sections: sections.map((section, index) => sectionRow(section, ownLines(section, sections, index, lines)))
  }
}

const pathTerms = (path: string): Array<string> => path.split(/[/.]/).flatMap(nameTerms)

const sectionRow = (section: IndexedSection, body: string): SectionRow => ({
  ...section,
  nameText: rowText([...nameTerms(section.name), ...termsOf(section.container)]),
  signatureText: rowText(termsOf(section.signature)),
  docText: rowText(termsOf(section.doc)),
  bodyText: rowText(termsOf(body), 4000)
})

/** The lines of a section without those of the sections inside it, which have rows of their own. */
const ownLines = (
  { startLine, endLine }: IndexedSection,
  sections: ReadonlyArray<IndexedSection>,
  index: number,
  lines: ReadonlyArray<string>
): string => {
  const own: Array<string> = []
  let next = startLine
  for (let at = index + 1; at < sections.length; at++) {
    const inner = sections[at]
    if (inner === undefined || inner.startLine > endLine) break
    addLines(own, lines, next, inner.startLine - 1)
    next = Math.max(next, inner.endLine + 1)
  }
  addLines(own, lines, next, endLine)
  return own.join("\n")
}

const addLines = (own: Array<string>, lines: ReadonlyArray<string>, first: number, last: number): void => {
  for (const line of lines.slice(first - 1, last)) own.push(line)
}

/** Lock files, source maps and minified bundles: their words say nothing about the code. */
const isGenerated = (path: string, source: string): boolean =>
  /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|composer\.lock|Cargo\.lock|poetry\.lock|go\.sum)$|\.min\.(?:js|css)$|\.map$|\.snap$/.test(
    path
  ) ||
  (source.length > 20_000 && source.length / (countLines(source) + 1) > 500)

const countLines = (source: string): number => {
  let count = 1
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) count++
  return count
}
