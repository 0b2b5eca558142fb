import * as Effect from "effect/Effect"

import type { ChangedPath, Content } from "../services/change-plan.ts"
import { concatBytes } from "../text/concat-bytes.ts"
import { directoriesAbove } from "../text/directories-above.ts"
import { singleLine } from "../text/visible-text.ts"
import { TimeSlices } from "../time-slices.ts"
import { unifiedDiff } from "./unified-diff.ts"

/** Net changes as one unified diff, with a line for each that has none, or whose content is secret. */
export const diffOf = Effect.fnUntraced(function* (
  net: ReadonlyArray<ChangedPath>,
  isSecret: (path: string) => boolean = () => false
): Effect.fn.Return<string> {
  // Directories on the way to a file are plain from the file.
  const onTheWay = new Set(
    net
      .filter(({ kind, what }) => what !== "directory" && kind !== "deleted")
      .flatMap(({ path, movedTo }) => directoriesAbove(movedTo ?? path))
  )
  const isOnTheWay = ({ path, what, kind }: ChangedPath): boolean =>
    what === "directory" && kind === "created" && onTheWay.has(path)
  const isDeletion = net.every(({ kind }) => kind === "deleted")
  const slices = new TimeSlices()
  const shown: Array<string> = []
  for (const change of isDeletion ? net.toSorted((one, other) => (one.path < other.path ? -1 : 1)) : net) {
    if (slices.isOver()) yield* slices.pause
    if (isOnTheWay(change)) continue
    const hidesContent = isSecret(change.path) || isSecret(change.movedTo ?? change.path)
    shown.push(hidesContent ? lineOf(change) : yield* diffOfPath(change))
  }
  return shown.join("")
})

const diffOfPath = Effect.fnUntraced(function* (change: ChangedPath): Effect.fn.Return<string> {
  const { path, kind, what, movedTo, contentBefore, contentAfter } = change
  if (what !== "file" || (kind === "deleted" && contentBefore === undefined)) return lineOf(change)
  if (kind === "deleted") {
    const removed = yield* unifiedDiff({ oldPath: path, newPath: undefined, before: contentBefore })
    return removed ?? `Binary file ${singleLine(path)} is replaced or deleted\n`
  }
  const modes = modeLines(change)
  const newPath = movedTo ?? path
  const renamed = movedTo === undefined ? "" : lineOf(change)
  if (contentAfter === contentBefore && change.before === change.after) return modes + renamed
  if (
    contentAfter === undefined ||
    (kind !== "created" && change.before !== "symlink" && contentBefore === undefined)
  ) {
    return `${renamed}${modes}Binary file ${singleLine(newPath)}: ${change.bytesWritten} bytes\n`
  }
  const isNew = kind === "created" || change.before === "symlink"
  const replaced = change.before === "symlink" ? `deleted ${singleLine(path)}\n` : ""
  const shown = yield* unifiedDiff({
    oldPath: isNew ? undefined : path,
    newPath,
    before: isNew ? undefined : contentBefore,
    after: contentAfter
  })
  if (shown === undefined) return `${renamed}${modes}Binary file ${singleLine(newPath)}: ${change.bytesWritten} bytes\n`
  return replaced + modes + shown
})

const lineOf = (change: ChangedPath): string => {
  const { path, kind, what, movedTo } = change
  if (kind === "moved") return `rename from ${singleLine(path)}\nrename to ${singleLine(movedTo ?? path)}\n`
  if (what === "symlink" && kind !== "deleted") return linkLine(change)
  return `${kind} ${singleLine(path)}${what === "directory" ? "/" : ""}\n`
}

/** Where a symbolic link leads, and led before. */
const linkLine = ({ path, before, contentBefore, contentAfter }: ChangedPath): string => {
  const target = (content: Content | undefined): string =>
    singleLine(
      content === undefined
        ? ""
        : new TextDecoder().decode(content instanceof Uint8Array ? content : concatBytes(content))
    )
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
