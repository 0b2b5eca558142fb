/**
 * What a line with `@@` and no use for its numbers says: the line to look below, or nothing. Models close it as a hunk
 * header is closed, put a hunk's numbers there, or mark with dots that something is left out.
 */
export const anchorOf = (line: string): string => {
  const said = line
    .replace(/^@@/, "")
    .replace(/^ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@(?= |$)/, "")
    .replace(/ @@\s*$/, "")
    .replace(/^ /, "")
    .trimEnd()
  return /^(\.{3}|…)?$/.test(said.trim()) ? "" : said
}
