/**
 * The anchor in an `@@` line: the line of the file to look below, or empty when it names none. Line numbers are left out,
 * and so are a closing `@@` and the dots that models put there for something left out.
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
