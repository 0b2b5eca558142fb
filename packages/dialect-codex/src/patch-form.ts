const headers = ["*** Add File: ", "*** Delete File: ", "*** Update File: "]

/**
 * Message of Codex about a patch that does not have its form, or undefined. A patch that passes is read by haft, which
 * has more to say about it.
 */
export const problemOfForm = (patch: string): string | undefined => {
  const lines = withoutHeredoc(patch.trim().split("\n"))
  if (lines[0]?.trim() !== "*** Begin Patch") {
    return "Invalid patch: The first line of the patch must be '*** Begin Patch'"
  }
  if (lines.length < 2 || lines.at(-1)?.trim() !== "*** End Patch") {
    return "Invalid patch: The last line of the patch must be '*** End Patch'"
  }
  if (lines.length === 2) return "No files were modified."
  const body = lines.slice(1, -1)
  let updated: { readonly path: string; readonly line: number; isEmpty: boolean } | undefined
  for (const [index, line] of body.entries()) {
    const header = headers.find((one) => line.startsWith(one))
    if (header !== undefined) {
      if (updated?.isEmpty === true) return emptyUpdate(updated)
      const path = line.slice(header.length)
      updated = header === "*** Update File: " ? { path, line: index + 2, isEmpty: true } : undefined
    } else if (index === 0) {
      const valid = "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"
      return `Invalid patch hunk on line 2: '${line.trim()}' is not a valid hunk header. Valid hunk headers: ${valid}`
    } else if (updated !== undefined && !line.startsWith("*** ")) updated.isEmpty = false
  }
  return updated?.isEmpty === true ? emptyUpdate(updated) : undefined
}

const emptyUpdate = ({ path, line }: { readonly path: string; readonly line: number }): string =>
  `Invalid patch hunk on line ${line}: Update file hunk for path '${path}' is empty`

/** The lines of a patch that came as a shell's here-document. */
const withoutHeredoc = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [, word] = /^<<-?\s*['"]?(\w+)['"]?$/.exec(lines[0] ?? "") ?? []
  return word !== undefined && lines.at(-1) === word ? lines.slice(1, -1) : lines
}

/** The patch inside of a here-document, or as it is. */
export const patchText = (patch: string): string => withoutHeredoc(patch.trim().split("\n")).join("\n")
