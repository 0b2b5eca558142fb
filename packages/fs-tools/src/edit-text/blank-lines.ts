import { commonLines } from "../matching/common-lines.ts"
import { findLinesInParts } from "../matching/find-lines.ts"
import { fitIndentation } from "../matching/indentation.ts"
import { itemsInPart, type Parts } from "../matching/occurrences.ts"
import type { TextFile } from "../text-file.ts"

/** Lines of a request, and the lines of a file that are the same but for blank ones between them. */
export interface BlankLines {
  readonly given: ReadonlyArray<string>
  readonly found: ReadonlyArray<string>
}

/** Places where lines stand with more or fewer blank lines between them: first line and the line after the last. */
export function* findIgnoringBlankLines(
  file: TextFile,
  given: ReadonlyArray<string>
): Parts<ReadonlyArray<{ readonly from: number; readonly to: number }>> {
  const wanted = given.filter(isNotBlank).map((line) => line.trimEnd())
  if (wanted.length < 2) return []
  const numbers: Array<number> = []
  const lines: Array<string> = []
  for (let line = 0; line < file.lineCount; line++) {
    if (line % itemsInPart === 0) yield
    const text = file.line(line)
    if (!isNotBlank(text)) continue
    numbers.push(line)
    lines.push(text.trimEnd())
  }
  const found = yield* findLinesInParts(lines, wanted)
  return found.map((at) => ({ from: numbers[at] ?? 0, to: (numbers[at + wanted.length - 1] ?? 0) + 1 }))
}

/**
 * The replacement with the blank lines of the file. Where the request has as many blank lines before a line as before the
 * one that it takes the place of, it does not mean to change them, and the file's stay; elsewhere the request decides.
 * Undefined where the lines do not tell how new ones are indented.
 */
export const keepBlankLines = (
  { given, found }: BlankLines,
  replace: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  const [old, file, now] = [blocksOf(given), blocksOf(found), blocksOf(replace)]
  if (old.leading !== now.leading || old.trailing !== now.trailing) return undefined
  const kept = commonLines(
    old.lines.map(({ text }) => text.trimEnd()),
    now.lines.map(({ text }) => text.trimEnd())
  )
  const pairs = old.lines.map(({ text }, at) => ({ expected: text, found: file.lines[at]?.text ?? "" }))
  const fitted = fitIndentation(
    pairs,
    now.lines.map(({ text }) => text)
  )
  if (kept === undefined || fitted === undefined) return undefined
  const replaced = replacedLines(kept, old.lines.length)
  return now.lines.flatMap(({ gap }, index) => {
    const from = kept[index] ?? -1
    const place = replaced[index] ?? -1
    const given = old.lines[place]?.gap
    // Blank lines between a line that stays and one that is new are new themselves, if there are any.
    const isBetweenOld = replaced[index - 1] === place - 1 || gap.length === 0
    const isUnchanged = given?.length === gap.length && isBetweenOld
    const blank = isUnchanged ? (file.lines[place]?.gap ?? []) : gap
    const text = (from === -1 ? fitted[index] : file.lines[from]?.text) ?? ""
    return index === 0 ? [text] : blank.concat(text)
  })
}

/** For each new line the old line whose place it takes, or -1: itself where it stays, else one that goes between the same two. */
const replacedLines = (kept: ReadonlyArray<number>, oldCount: number): ReadonlyArray<number> => {
  const replaced = [...kept]
  for (let index = 0; index < kept.length; index++) {
    if (kept[index] !== -1) continue
    let end = index + 1
    while (end < kept.length && kept[end] === -1) end++
    const first = (kept[index - 1] ?? -1) + 1
    const gone = (kept[end] ?? oldCount) - first
    // Lines of blocks with as many lines take each other's place; otherwise only the first can be told.
    const count = gone === end - index ? gone : Math.min(gone, 1)
    for (let at = 0; at < count; at++) replaced[index + at] = first + at
    index = end
  }
  return replaced
}

interface Block {
  readonly text: string
  /** The blank lines before it. */
  readonly gap: ReadonlyArray<string>
}

const isNotBlank = (line: string): boolean => line.trim() !== ""

const blocksOf = (
  lines: ReadonlyArray<string>
): { readonly lines: ReadonlyArray<Block>; readonly leading: number; readonly trailing: number } => {
  const blocks: Array<Block> = []
  let gap: Array<string> = []
  for (const text of lines) {
    if (!isNotBlank(text)) {
      gap.push(text)
      continue
    }
    blocks.push({ text, gap })
    gap = []
  }
  return { lines: blocks, leading: blocks[0]?.gap.length ?? 0, trailing: gap.length }
}
