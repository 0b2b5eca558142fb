import { findLines } from "../find-lines.ts"
import { fitIndentation } from "../indentation.ts"
import type { TextFile } from "../text-file.ts"
import { commonLines } from "./common-lines.ts"

/** Lines of a request, and the lines of a file that are the same but for blank ones between them. */
export interface BlankLines {
  readonly given: ReadonlyArray<string>
  readonly found: ReadonlyArray<string>
}

/** Places where lines stand with more or fewer blank lines between them: first line and the line after the last. */
export const findIgnoringBlankLines = (
  file: TextFile,
  given: ReadonlyArray<string>
): ReadonlyArray<{ readonly from: number; readonly to: number }> => {
  const wanted = given.filter(isNotBlank).map((line) => line.trimEnd())
  if (wanted.length < 2) return []
  const numbers = Array.from({ length: file.lineCount }, (_, line) => line).filter((line) =>
    isNotBlank(file.line(line))
  )
  return findLines(
    numbers.map((line) => file.line(line).trimEnd()),
    wanted
  ).map((at) => ({ from: numbers[at] ?? 0, to: (numbers[at + wanted.length - 1] ?? 0) + 1 }))
}

/**
 * The replacement with the blank lines of the file between lines that stay. Undefined where blank lines differ beside a line
 * that changes: then nobody can tell which of them should stay.
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
  if (kept === undefined) return undefined
  const stays = new Set<number>()
  for (const [index, from] of kept.entries()) if (from > 0 && kept[index - 1] === from - 1) stays.add(from)
  const differs = old.lines.some(({ gap }, at) => at > 0 && gap.length !== file.lines[at]?.gap.length && !stays.has(at))
  const pairs = old.lines.map(({ text }, at) => ({ expected: text, found: file.lines[at]?.text ?? "" }))
  const fitted = fitIndentation(
    pairs,
    now.lines.map(({ text }) => text)
  )
  if (differs || fitted === undefined) return undefined
  const result: Array<string> = []
  for (const [index, { gap }] of now.lines.entries()) {
    const from = kept[index] ?? -1
    const isSame = stays.has(from) && kept[index - 1] === from - 1 && old.lines[from]?.gap.length === gap.length
    if (index > 0) for (const blank of isSame ? (file.lines[from]?.gap ?? []) : gap) result.push(blank)
    result.push((from === -1 ? fitted[index] : file.lines[from]?.text) ?? "")
  }
  return result
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
