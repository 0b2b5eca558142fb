import type { HunkLine } from "../patch.ts"
import { comparable, type ContentPass } from "./line-views.ts"

/** Both sides of a hunk: the lines that it expects, and those that it leaves behind. */
export interface HunkSides {
  readonly lines: ReadonlyArray<HunkLine>
  readonly old: ReadonlyArray<HunkLine>
  readonly now: ReadonlyArray<HunkLine>
  /** Lines of context before the first change and after the last one. */
  readonly prefix: number
  readonly suffix: number
}

export const sidesOf = (lines: ReadonlyArray<HunkLine>): HunkSides => {
  const first = lines.findIndex(({ sign }) => sign !== " ")
  const last = lines.findLastIndex(({ sign }) => sign !== " ")
  return {
    lines,
    old: lines.filter(({ sign }) => sign !== "+"),
    now: lines.filter(({ sign }) => sign !== "-"),
    prefix: first === -1 ? lines.length : first,
    suffix: last === -1 ? 0 : lines.length - 1 - last
  }
}

/** False for blank lines and for lines of punctuation alone, such as `}`: they stand everywhere and identify nothing. */
export const isInformative = ({ text }: { readonly text: string }): boolean => /[\p{L}\p{N}]/u.test(text)

/** True when a pass can't tell what a hunk expects from what it leaves behind, such as a change of indentation. */
export const looksUnchanged = ({ old, now }: HunkSides, pass: ContentPass): boolean =>
  old.length === now.length &&
  old.every(({ text }, index) => comparable(text, pass) === comparable(now[index]?.text ?? "", pass))
