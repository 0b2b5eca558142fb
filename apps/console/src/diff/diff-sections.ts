/** The part of a unified diff that is about one file. */
export interface DiffSection {
  readonly path: string
  /** Everything about the file: a patch by itself. */
  readonly text: string
  /** Each hunk as a patch by itself. */
  readonly hunks: ReadonlyArray<string>
}

/** Splits a unified diff by file and hunk, without changing a character. Lines about what has no hunks are left out. */
export const diffSections = (diff: string): ReadonlyArray<DiffSection> => {
  const sections: Array<{ header: string; path: string; hunks: Array<string> }> = []
  const lines = diff.split(/(?<=\n)/)
  let left: [before: number, after: number] = [0, 0]
  for (const [index, line] of lines.entries()) {
    const section = sections.at(-1)
    const last = section?.hunks.length ?? 0
    if (section !== undefined && last > 0 && (left[0] > 0 || left[1] > 0 || line.startsWith("\\"))) {
      section.hunks[last - 1] += line
      if (line.startsWith("\\")) continue
      left = [left[0] - (line.startsWith("+") ? 0 : 1), left[1] - (line.startsWith("-") ? 0 : 1)]
      continue
    }
    const next = lines[index + 1] ?? ""
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      const path = [next, line].map(nameIn).find((name) => name !== "/dev/null") ?? ""
      sections.push({ header: line + next, path, hunks: [] })
      continue
    }
    const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (counts === null || section === undefined) continue
    left = [Number(counts[1] ?? 1), Number(counts[2] ?? 1)]
    section.hunks.push(line)
  }
  return sections.map(({ header, path, hunks }) => ({
    path,
    text: header + hunks.join(""),
    hunks: hunks.map((hunk) => header + hunk)
  }))
}

const nameIn = (line: string): string =>
  line
    .slice(4)
    .trimEnd()
    .replace(/\t.*$/, "")
    .replace(/^[ab]\//, "")
