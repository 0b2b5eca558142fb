import { singleLine } from "@haft/core"

/** A match as far as its text goes. */
export interface TextMatch {
  readonly path: string
  readonly line: number
  readonly content: string
  readonly before?: ReadonlyArray<string> | undefined
  readonly after?: ReadonlyArray<string> | undefined
}

/** How many there are, and how many of them follow. */
export const headingOf = ({ shown, total }: { readonly shown: number; readonly total: number }): string =>
  `${total} ${total === 1 ? "match" : "matches"}${shown < total ? `, the first ${shown} of them:` : ""}`

/** Matches as `path:line: text`; what is around them as `path-line- text`, each line once, with `--` where some are left out. */
export const linesOf = (matches: ReadonlyArray<TextMatch>): ReadonlyArray<string> => {
  const hasContext = matches.some(({ before = [], after = [] }) => before.length + after.length > 0)
  const lines: Array<string> = []
  for (const [path, found] of Map.groupBy(matches, (match) => match.path)) {
    let previous: number | undefined
    for (const [number, text] of linesAround(singleLine(path), found)) {
      if (hasContext && lines.length > 0 && number - 1 !== previous) lines.push("--")
      lines.push(text)
      previous = number
    }
  }
  return lines
}

const linesAround = (path: string, matches: ReadonlyArray<TextMatch>): ReadonlyArray<readonly [number, string]> => {
  const lines = new Map<number, string>()
  for (const { line, before = [], after = [] } of matches) {
    for (const [index, text] of before.entries()) {
      const number = line - before.length + index
      lines.set(number, `${path}-${number}- ${text}`)
    }
    for (const [index, text] of after.entries()) lines.set(line + 1 + index, `${path}-${line + 1 + index}- ${text}`)
  }
  for (const { line, content } of matches) lines.set(line, `${path}:${line}: ${content}`)
  return [...lines].toSorted(([one], [other]) => one - other)
}
