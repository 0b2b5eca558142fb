import { largestMiB } from "../ripgrep/count-matches.ts"
import type { SearchResult } from "../search-text.ts"

/** Advice about what was left out, in a contract's own terms. */
export interface SearchAdvice {
  readonly includeIgnored: string
  /** The parameter that says which files are searched. */
  readonly globs: string
}

/** Remarks about an answer for a reader. */
export const remarksOn = (
  { leftOut, nothing: { ignored, noFileFits = false } }: SearchResult,
  { includeIgnored, globs }: SearchAdvice
): ReadonlyArray<string> => [
  ...(leftOut.unreadable > 0
    ? [`${counted(leftOut.unreadable, "file or directory", "files or directories")} could not be read.`]
    : []),
  ...(leftOut.unnameable > 0
    ? [`${counted(leftOut.unnameable, "file", "files")} with matches left out: the name is not UTF-8.`]
    : []),
  ...(leftOut.large ? [`Files over ${largestMiB} MiB left out: ripgrep ran out of memory on one.`] : []),
  ...(ignored === undefined
    ? []
    : [
        `${ignored.isAll ? "" : "At least "}${counted(ignored.matches, "match", "matches")} in ${counted(ignored.files, "file", "files")} that .gitignore leaves out. ${includeIgnored}`
      ]),
  ...(noFileFits ? [`No file fits ${globs}.`] : [])
]

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
