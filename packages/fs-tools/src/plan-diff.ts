import { type ChangedPath, type Content, netChanges, singleLine } from "@haft/core"

import { textOf } from "./planned-text.ts"
import { unifiedDiff } from "./unified-diff.ts"

/** Everything that a plan changes, as one unified diff, with a line for what has none. */
export const diffOf = (changes: ReadonlyArray<ChangedPath>): string => {
  const net = netChanges(changes)
  const arriving = net.filter(({ kind, what }) => what !== "directory" && kind !== "deleted")
  // Directories on the way to a file are plain from the file.
  const isOnTheWay = ({ path, what, kind }: ChangedPath): boolean =>
    what === "directory" &&
    kind === "created" &&
    arriving.some((change) => (change.movedTo ?? change.path).startsWith(`${path}/`))
  const isDeletion = net.every(({ kind }) => kind === "deleted")
  return (isDeletion ? net.toSorted((one, other) => (one.path < other.path ? -1 : 1)) : net)
    .filter((change) => !isOnTheWay(change))
    .map(diffOfPath)
    .join("")
}

const diffOfPath = (change: ChangedPath): string => {
  const { path, kind, what, movedTo, contentBefore, contentAfter } = change
  if (what !== "file" || (kind === "deleted" && contentBefore === undefined)) return lineOf(change)
  const before = contentBefore && textOf(contentBefore)
  const after = contentAfter && textOf(contentAfter)
  if (kind === "deleted") {
    return before === undefined
      ? `Binary file ${singleLine(path)} is replaced or deleted\n`
      : unifiedDiff({ oldPath: path, newPath: undefined, before, after: undefined })
  }
  const modes = modeLines(change)
  const oldPath = kind === "created" ? undefined : path
  const newPath = movedTo ?? path
  if (contentAfter === undefined || contentAfter === contentBefore) {
    return modes + (movedTo === undefined ? "" : lineOf(change))
  }
  if (change.before === "symlink" && after !== undefined) {
    return `deleted ${singleLine(path)}\n${modes}${unifiedDiff({ oldPath: undefined, newPath, before: undefined, after })}`
  }
  if (after === undefined || (kind !== "created" && before === undefined)) {
    const renamed = movedTo === undefined ? "" : lineOf(change)
    return `${renamed}${modes}Binary file ${singleLine(newPath)}: ${change.bytesWritten} bytes\n`
  }
  return modes + unifiedDiff({ oldPath, newPath, before, after })
}

const lineOf = (change: ChangedPath): string => {
  const { path, kind, what, movedTo } = change
  if (kind === "moved") return `rename from ${singleLine(path)}\nrename to ${singleLine(movedTo ?? path)}\n`
  if (what === "symlink" && kind !== "deleted") return linkLine(change)
  return `${kind} ${singleLine(path)}${what === "directory" ? "/" : ""}\n`
}

/** Where a symbolic link leads, and led before. */
const linkLine = ({ path, before, contentBefore, contentAfter }: ChangedPath): string => {
  const target = (content: Content | undefined): string => singleLine((content && textOf(content)?.text) ?? "")
  if (before === "symlink") {
    return `symbolic link ${singleLine(path)}: ${target(contentBefore)} -> ${target(contentAfter)}\n`
  }
  const gone = before === "absent" ? "" : `deleted ${singleLine(path)}\n`
  return `${gone}created symbolic link ${singleLine(path)} -> ${target(contentAfter)}\n`
}

const modeLines = ({ kind, modeBefore, modeAfter }: ChangedPath): string => {
  if (modeAfter === undefined || modeAfter === modeBefore) return ""
  const spelled = (bits: number) => `100${bits.toString(8).padStart(3, "0")}\n`
  return kind === "created"
    ? `new file mode ${spelled(modeAfter)}`
    : `old mode ${spelled(modeBefore ?? 0)}new mode ${spelled(modeAfter)}`
}
