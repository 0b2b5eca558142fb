import * as Effect from "effect/Effect"

import { BinaryPatches } from "../../settings.ts"
import type { BinaryHunk, Hunk, PatchSection } from "../patch.ts"
import { type ObjectIds, readBinaryHunk } from "./binary-hunk.ts"
import { type ParseError, refuseLine } from "./line-error.ts"
import { patchPath, refusePath } from "./patch-path.ts"

/** The head of one file's part of a diff. */
export interface FileHeader {
  /** Index of its first line, and of the line after it. */
  readonly start: number
  readonly next: number
  readonly name: string
  /** Change made by the part, once its hunks are known; undefined if none. */
  readonly section: (hunks: ReadonlyArray<Hunk>) => PatchSection | undefined
}

/** True where a part for another file begins. */
export const startsFile = (lines: ReadonlyArray<string>, at: number): boolean => {
  const line = lines[at] ?? ""
  if (line.startsWith("diff --git ")) return true
  // A removed line may begin with `-- `, so the three lines must come together.
  return line.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ") && isHunkOrEnd(lines[at + 2])
}

export const readFileHeader = Effect.fnUntraced(function* (
  lines: ReadonlyArray<string>,
  start: number
): Effect.fn.Return<FileHeader, ParseError> {
  const git = (lines[start] ?? "").startsWith("diff --git ") ? gitNames(lines[start] ?? "") : undefined
  const extended: Extended = {}
  let next = git === undefined ? start : start + 1
  if (git !== undefined) while (readExtended(lines[next] ?? "", extended)) next++
  let named: Named | undefined
  let absent: Absent = { old: false, new: false }
  if ((lines[next] ?? "").startsWith("--- ") && (lines[next + 1] ?? "").startsWith("+++ ")) {
    const [old, now] = [readName(lines[next] ?? ""), readName(lines[next + 1] ?? "")]
    named = { old: old.name, new: now.name }
    next += 2
    const [, oldRange, newRange] = /^@@ -(\S+) \+(\S+) @@/.exec(lines[next] ?? "") ?? []
    absent = { old: old.isEpoch && oldRange === "0,0", new: now.isEpoch && newRange === "0,0" }
  }
  const names = withoutAbsent(yield* strippedNames(named, git, extended, start), absent)
  const name = names.new ?? names.old ?? ""
  const { oldMode, newMode, createdMode, deletedMode, keptMode } = extended
  // git never prints these: it deletes the link and adds the file, or the other way round.
  if ([oldMode, newMode].includes("120000")) {
    return yield* refusePath(name, "becomes a symbolic link, or ceases to be one, by its mode alone")
  }
  if ([oldMode, newMode, createdMode, deletedMode, keptMode].includes("160000")) {
    return yield* refusePath(name, "is a submodule")
  }
  for (const path of [names.old, names.new]) if (path !== undefined) yield* patchPath(path)
  const body = yield* readBinary(lines, next, name, extended.ids)
  return {
    start,
    next: body?.next ?? next,
    name,
    section: (hunks) => sectionOf(names, extended, { hunks, binary: body?.hunk })
  }
})

/** Binary content of a patch, which follows a header in place of hunks. */
const readBinary = Effect.fnUntraced(function* (
  lines: ReadonlyArray<string>,
  at: number,
  name: string,
  ids: ObjectIds | undefined
) {
  const line = lines[at] ?? ""
  if (/^Binary files .* differ/.test(line)) {
    return yield* refuseLine(
      at,
      `the patch says that ${name}, a binary file, differs, but not how; make it by \`git diff --binary\``
    )
  }
  if (!line.startsWith("GIT binary patch")) return undefined
  return (yield* BinaryPatches) === "apply"
    ? yield* readBinaryHunk(lines, at, ids)
    : yield* refuseLine(
        at,
        `${name} is changed by a binary patch, which is not allowed here; leave the file out, and write its bytes as a whole`
      )
})

/** Sides whose file does not exist, as `diff -N` says it: by the time at which time begins. */
interface Absent {
  readonly old: boolean
  readonly new: boolean
}

const withoutAbsent = (names: Names, absent: Absent): Names => ({
  old: absent.old ? undefined : names.old,
  new: absent.new && !absent.old ? undefined : names.new
})

interface Named {
  readonly old: string
  readonly new: string
}

interface Names {
  /** Undefined for a file that is created or deleted. */
  readonly old: string | undefined
  readonly new: string | undefined
}

interface Extended {
  oldMode?: string
  newMode?: string
  /** The mode of a file that keeps it. */
  keptMode?: string
  ids?: ObjectIds
  createdMode?: string
  deletedMode?: string
  renameFrom?: string
  renameTo?: string
  copyFrom?: string
  copyTo?: string
}

const isHunkOrEnd = (line: string | undefined): boolean =>
  line === undefined || line.startsWith("@@") || line.trim() === ""

const fields = [
  ["oldMode", "old mode "],
  ["newMode", "new mode "],
  ["createdMode", "new file mode "],
  ["deletedMode", "deleted file mode "],
  ["renameFrom", "rename from "],
  ["renameTo", "rename to "],
  ["copyFrom", "copy from "],
  ["copyTo", "copy to "]
] as const

const readExtended = (line: string, into: Extended): boolean => {
  for (const [field, prefix] of fields) {
    if (!line.startsWith(prefix)) continue
    into[field] = unquote(line.slice(prefix.length).replace(/\r$/, ""))
    return true
  }
  const index = /^index (?:([0-9a-f]+)\.\.([0-9a-f]+)|\S+)(?: (\d+))?/.exec(line)
  const [, before, after, mode] = index ?? []
  if (mode !== undefined) into.keptMode = mode
  if (before !== undefined && after !== undefined) into.ids = { before, after }
  return index !== null || /^(similarity index|dissimilarity index) /.test(line)
}

interface FileBody {
  readonly hunks: ReadonlyArray<Hunk>
  readonly binary: BinaryHunk | undefined
}

const sectionOf = (names: Names, extended: Extended, { hunks, binary }: FileBody): PatchSection | undefined => {
  const mode = extended.newMode ?? extended.createdMode
  const executable = mode === undefined ? undefined : (Number.parseInt(mode, 8) & 0o111) !== 0
  const isLink = [extended.createdMode, extended.deletedMode, extended.keptMode].includes(linkMode)
  const body = { ...(isLink && { isLink }), ...(binary !== undefined && { binary }) }
  const isEmpty = hunks.length === 0 && binary === undefined
  if (names.old === undefined) {
    const lines = hunks.flatMap((hunk) => hunk.lines)
    if ((isEmpty && extended.createdMode === undefined) || lines.some(({ sign }) => sign !== "+")) return undefined
    return { kind: "add", path: names.new ?? "", lines, executable: isLink ? undefined : executable, ...body }
  }
  if (names.new === undefined) {
    return isEmpty && extended.deletedMode === undefined
      ? undefined
      : { kind: "delete", path: names.old, hunks, ...body }
  }
  const isMoved = extended.renameTo !== undefined || extended.copyTo !== undefined
  if (isEmpty && !isMoved && executable === undefined) return undefined
  return {
    kind: "update",
    path: isMoved ? names.old : names.new,
    target: isMoved ? names.new : undefined,
    isCopy: extended.copyTo !== undefined,
    executable,
    hunks,
    ...body
  }
}

const linkMode = "120000"

const strippedNames = (
  named: Named | undefined,
  git: Named | undefined,
  extended: Extended,
  start: number
): Effect.Effect<Names, ParseError> => {
  const from = extended.renameFrom ?? extended.copyFrom
  const to = extended.renameTo ?? extended.copyTo
  // Renames and copies name their files without a prefix.
  if (from !== undefined && to !== undefined) return Effect.succeed({ old: from, new: to })
  const both = named ?? git
  if (both === undefined) return refuseLine(start, "the header names no file")
  if (both.old === "/dev/null" && both.new === "/dev/null")
    return refuseLine(start, "both sides of the header are /dev/null")
  // A file that is created or deleted has one name here; prefixes are told by comparing two, as `diff --git` has them.
  const hasOneName = both.old === "/dev/null" || both.new === "/dev/null"
  const stripped = stripPrefixes(hasOneName && git !== undefined && git.new !== "" ? git : both)
  if (stripped.old === "" || stripped.new === "") return refuseLine(start, "the header names no file")
  return Effect.succeed({
    old:
      both.old === "/dev/null" || (named === undefined && extended.createdMode !== undefined)
        ? undefined
        : stripped.old,
    new:
      both.new === "/dev/null" || (named === undefined && extended.deletedMode !== undefined) ? undefined : stripped.new
  })
}

/** Takes off `a/` and `b/`, or a first part that only one side has; other names stay as they are. */
const stripPrefixes = (named: Named): Named => {
  const [old, now] = [separated(named.old), separated(named.new)]
  const rest = (name: string): string => name.slice(name.indexOf("/") + 1)
  const differInFirstPart = old !== now && old.includes("/") && now.includes("/") && rest(old) === rest(now)
  const strip = (name: string): string =>
    /^[ab]\//.test(name) || (differInFirstPart && !name.startsWith("/")) ? rest(name) : name
  return { old: strip(old), new: strip(now) }
}

/** A name with `/` between its parts: on Windows `\` separates, too. */
const separated = (name: string): string => (process.platform === "win32" ? name.replaceAll("\\", "/") : name)

/** The name in a `--- ` or `+++ ` line, and whether the time behind it is that of a file that does not exist. */
const readName = (line: string): { readonly name: string; readonly isEpoch: boolean } => {
  const rest = line.slice(4).replace(/\r$/, "")
  const time = timestamp.exec(rest)
  const isEpoch = time !== null && isEpochTime(time[1] ?? "")
  if (rest.startsWith('"')) return { name: unquote(rest), isEpoch }
  const tab = rest.indexOf("\t")
  if (tab !== -1) return { name: rest.slice(0, tab), isEpoch }
  return { name: (time === null ? rest : rest.slice(0, time.index)).trimEnd(), isEpoch }
}

/** The time that diff puts behind a name, after a tab or, once tabs are lost, after spaces. */
const timestamp =
  /\s+(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:[+-]\d\d:?\d\d|Z|UTC))?|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}(?: [+-]\d{4})?)\s*$/

/** True for 1970-01-01 00:00:00 UTC; without a time zone, for any hour that may be it somewhere. */
const isEpochTime = (time: string): boolean => {
  const zone = /(?:[+-]\d\d:?\d\d|Z|UTC)$/.exec(time)?.[0]
  const elapsed = Date.parse(zone === undefined ? `${time} UTC` : time)
  return zone === undefined ? Math.abs(elapsed) <= 14 * 3_600_000 && elapsed % 900_000 === 0 : elapsed === 0
}

/** Both names of a `diff --git` line. Without quotes they can only be told apart when they are the same. */
const gitNames = (line: string): Named | undefined => {
  const rest = line.slice("diff --git ".length).replace(/\r$/, "")
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(rest)
  if (quoted !== null) return { old: unquote(quoted[1] ?? ""), new: unquote(quoted[2] ?? "") }
  const middle = (rest.length - 1) / 2
  const [old, now] = [rest.slice(0, middle), rest.slice(middle + 1)]
  return old.slice(2) === now.slice(2) ? { old, new: now } : { old: "", new: "" }
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 }

/** Undoes git's C-style quotes, whose octal numbers are bytes of UTF-8. */
const unquote = (name: string): string => {
  const end = name.lastIndexOf('"')
  if (!name.startsWith('"') || end < 1) return name
  const bytes: Array<number> = []
  const pattern = /\\([0-7]{3})|\\(.)|([^\\]+)/gs
  for (const [, octal, letter, plain] of name.slice(1, end).matchAll(pattern)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff)
    else if (letter !== undefined) bytes.push(escapes[letter] ?? letter.charCodeAt(0))
    else for (const byte of new TextEncoder().encode(plain)) bytes.push(byte)
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}
