import type { SearchResult } from "./search-text.ts"

/** What a reader should know about an answer besides the answer. */
export const remarksOn = ({ leftOut, ignored }: SearchResult, howToInclude: string): ReadonlyArray<string> => [
  ...(leftOut.unreadable > 0
    ? [`${counted(leftOut.unreadable, "file or directory", "files or directories")} could not be read.`]
    : []),
  ...(leftOut.unnameable > 0
    ? [`${counted(leftOut.unnameable, "file", "files")} with matches left out: the name is not UTF-8.`]
    : []),
  ...(ignored === undefined
    ? []
    : [
        `${ignored.isAll ? "" : "At least "}${counted(ignored.matches, "match", "matches")} in ${counted(ignored.files, "file", "files")} that .gitignore leaves out. ${howToInclude}`
      ])
]

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
