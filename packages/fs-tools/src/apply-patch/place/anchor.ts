/** Content of a hunk header without line numbers, between its two `@@`: dots, question marks, or `-N,M +N,M`. */
const placeholder = /^@@\s*(?:[.…?*_]*|-\S+(?:\s+\+\S+)?)\s*@@(?=\s|$)/

/** True for a header that has a place for line numbers and none in it, such as `@@ ... @@` or `@@ -N,M +N,M @@`. */
export const isPlaceholderHeader = (line: string): boolean => placeholder.test(line)

/**
 * The anchor in an `@@` line: the line of the file to look below, or empty when it names none. Line numbers, what
 * stands for them, a closing `@@` and dots for something left out are no part of it.
 */
export const anchorOf = (line: string): string => {
  const said = line
    .replace(placeholder, "")
    .replace(/^@@/, "")
    .replace(/ @@\s*$/, "")
    .replace(/^ /, "")
    .trimEnd()
  return /^(\.{3}|…)?$/.test(said.trim()) ? "" : said
}
