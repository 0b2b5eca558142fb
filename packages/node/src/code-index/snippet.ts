import type { CodeMatch } from "@haft/core"

import { fingerprintBytes } from "../workspace/content.ts"
import type { RankedFile } from "./ranking.ts"
import { termsOf } from "./terms.ts"

/** Lines of a snippet. */
const snippetLines = 12

/** Characters of a line of a snippet. */
const lineLength = 200

/** A ranked file with the lines that match best, from its content, and the hash of that. */
export const snippetOf = (
  { path, score, sections, why }: RankedFile,
  content: Uint8Array,
  terms: ReadonlyArray<string>
): { readonly match: CodeMatch; readonly hash: string } => {
  const lines = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8").split("\n")
  const [best, ...others] = sections
  const startLine = best?.startLine ?? 1
  const endLine = Math.min(best?.endLine ?? lines.length, lines.length)
  const isNamed = best !== undefined && best.name !== ""
  const first = isNamed ? startLine : densest(lines, { startLine, endLine }, terms)
  const snippet = lines
    .slice(first - 1, Math.min(first - 1 + snippetLines, endLine))
    .map((line) => (line.length > lineLength ? `${line.slice(0, lineLength)}…` : line).trimEnd())
  const match = {
    path,
    startLine,
    endLine,
    ...(isNamed && { symbol: best }),
    alsoMatching: others.filter(({ name }) => name !== ""),
    score,
    why,
    snippet,
    snippetLine: first
  }
  return { match, hash: fingerprintBytes(content) }
}

/** The line at which the snippet with the most different terms begins. */
const densest = (
  lines: ReadonlyArray<string>,
  { startLine, endLine }: { readonly startLine: number; readonly endLine: number },
  terms: ReadonlyArray<string>
): number => {
  const wanted = new Set(terms)
  // A file of many lines is looked at from its beginning only.
  const hits = lines
    .slice(startLine - 1, Math.min(endLine, startLine + 2000))
    .map((line) => termsOf(line.slice(0, 1000)).filter((term) => wanted.has(term)))
  let best = { line: startLine, count: 0 }
  for (const [index, own] of hits.entries()) {
    if (own.length === 0) continue
    const count = new Set(hits.slice(index, index + snippetLines).flat()).size
    if (count > best.count) best = { line: startLine + index, count }
  }
  return Math.max(startLine, best.line - 1)
}
