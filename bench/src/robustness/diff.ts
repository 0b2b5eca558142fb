/** One hunk of a unified diff. Its lines carry their sign; `\ No newline at end of file` is a line, too. */
export interface Hunk {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  /** The function or heading that git names after the second `@@`. */
  readonly section: string
  readonly lines: ReadonlyArray<string>
  /** Replaces the header that the numbers make. */
  readonly header?: string
}

export interface FilePatch {
  readonly path: string
  readonly kind: "modify" | "add" | "delete"
  /** `diff --git`, `index` and modes. */
  readonly gitHeader: ReadonlyArray<string>
  readonly hunks: ReadonlyArray<Hunk>
}

/** Parses what git printed. Throws on anything but text files that are added, modified or deleted. */
export const parseDiff = (text: string): ReadonlyArray<FilePatch> => {
  const files: Array<{ path: string; kind: FilePatch["kind"]; gitHeader: Array<string>; hunks: Array<Hunk> }> = []
  let missing = { old: 0, new: 0 }
  let lines: Array<string> = []
  for (const line of text.split("\n").slice(0, -1)) {
    const file = files.at(-1)
    if (missing.old > 0 || missing.new > 0 || line.startsWith("\\")) {
      if (line.startsWith(" ") || line.startsWith("-")) missing.old--
      if (line.startsWith(" ") || line.startsWith("+")) missing.new--
      lines.push(line)
      continue
    }
    if (line.startsWith("diff --git ")) {
      files.push({ path: "", kind: "modify", gitHeader: [line], hunks: [] })
      continue
    }
    if (file === undefined) throw new Error(`not a diff of git: ${line}`)
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line)
    if (hunk !== null) {
      const [, oldStart, oldCount = "1", newStart, newCount = "1", section = ""] = hunk
      missing = { old: Number(oldCount), new: Number(newCount) }
      lines = []
      const numbers = { oldStart: Number(oldStart), oldCount: missing.old, newStart: Number(newStart) }
      file.hunks.push({ ...numbers, newCount: missing.new, section, lines })
    } else if (line.startsWith("--- ")) {
      if (line === "--- /dev/null") file.kind = "add"
      else file.path = line.slice("--- a/".length)
    } else if (line.startsWith("+++ ")) {
      if (line === "+++ /dev/null") file.kind = "delete"
      else file.path = line.slice("+++ b/".length)
    } else file.gitHeader.push(line)
  }
  return files
}

export interface UnifiedStyle {
  /** Header above the hunks of a file: git's header, only names, or names with times as `diff -ruN` prints them. */
  readonly header?: "git" | "names" | "timestamps" | "timestamps-after-spaces"
  /** `false` leaves out `a/` and `b/`. */
  readonly prefix?: boolean
}

export const renderUnified = (files: ReadonlyArray<FilePatch>, style: UnifiedStyle = {}): string => {
  const { header = "git", prefix = true } = style
  const name = (side: "a" | "b", { path, kind }: FilePatch): string => {
    const isAbsent = kind === (side === "a" ? "add" : "delete")
    const shown = prefix ? `${side}/${path}` : path
    if (header.startsWith("timestamps"))
      return `${shown}${header === "timestamps" ? "\t" : "  "}${isAbsent ? "1970-01-01 00:00:00.000000000 +0000" : "2026-03-04 05:06:07.000000000 +0000"}`
    return isAbsent ? "/dev/null" : shown
  }
  return files
    .flatMap((file) => [
      ...(header === "git" ? file.gitHeader.map((line) => (prefix ? line : withoutPrefix(line))) : []),
      ...(header.startsWith("timestamps") ? [`diff -ruN a/${file.path} b/${file.path}`] : []),
      `--- ${name("a", file)}`,
      `+++ ${name("b", file)}`,
      ...file.hunks.flatMap((hunk) => [hunk.header ?? headerOf(hunk), ...hunk.lines])
    ])
    .map((line) => `${line}\n`)
    .join("")
}

const withoutPrefix = (line: string): string => line.replace(/^diff --git a\/(.*) b\//, "diff --git $1 ")

const headerOf = ({ oldStart, oldCount, newStart, newCount, section }: Hunk): string =>
  `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@${section === "" ? "" : ` ${section}`}`

/** The patch as `*** Begin Patch` sections; `undefined` where a hunk has nothing that could be found in a file. */
export const renderEnvelope = (files: ReadonlyArray<FilePatch>): string | undefined => {
  const isPlaceable = ({ lines }: Hunk): boolean => lines.some((line) => !line.startsWith("+"))
  if (files.some(({ kind, hunks }) => kind === "modify" && !hunks.every(isPlaceable))) return undefined
  const body = files.flatMap(({ path, kind, hunks }) => {
    const lines = hunks.map((hunk) => hunk.lines.filter((line) => !line.startsWith("\\")))
    if (kind === "delete") return [`*** Delete File: ${path}`]
    if (kind === "add") return [`*** Add File: ${path}`, ...lines.flat()]
    return [`*** Update File: ${path}`, ...lines.flatMap((ofHunk) => ["@@"].concat(ofHunk))]
  })
  return ["*** Begin Patch", ...body, "*** End Patch"].map((line) => `${line}\n`).join("")
}

/** A line of a hunk with its places in the file, counted from 0: before the change, after it, or both. */
export interface PlacedLine {
  readonly index: number
  readonly sign: string
  readonly text: string
  readonly before: number | undefined
  readonly after: number | undefined
}

export const placedLines = ({ lines, oldStart, oldCount, newStart, newCount }: Hunk): ReadonlyArray<PlacedLine> => {
  let before = oldStart - (oldCount === 0 ? 0 : 1)
  let after = newStart - (newCount === 0 ? 0 : 1)
  return lines.map((line, index) => {
    const sign = line.slice(0, 1)
    return {
      index,
      sign,
      text: line.slice(1),
      before: sign === " " || sign === "-" ? before++ : undefined,
      after: sign === " " || sign === "+" ? after++ : undefined
    }
  })
}

/** How many lines of context a hunk begins and ends with. */
export const outerContext = ({ lines }: Hunk): { readonly leading: number; readonly trailing: number } => {
  const isChange = (line: string): boolean => !line.startsWith(" ")
  return { leading: lines.findIndex(isChange), trailing: lines.length - 1 - lines.findLastIndex(isChange) }
}

/** The hunk without some of its first and last lines of context, with numbers that fit. */
export const cutContext = (hunk: Hunk, cut: { readonly leading: number; readonly trailing: number }): Hunk => {
  const all = cut.leading + cut.trailing
  const [oldCount, newCount] = [hunk.oldCount - all, hunk.newCount - all]
  return {
    ...hunk,
    // A range of no lines is named by the line before it.
    oldStart: hunk.oldStart + cut.leading - (oldCount === 0 && hunk.oldCount > 0 ? 1 : 0),
    newStart: hunk.newStart + cut.leading - (newCount === 0 && hunk.newCount > 0 ? 1 : 0),
    oldCount,
    newCount,
    lines: hunk.lines.slice(cut.leading, hunk.lines.length - cut.trailing)
  }
}
