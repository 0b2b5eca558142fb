import type { ChangedPath } from "@haft/core"

import { sha256Of } from "../storage/blob-store.ts"
import type { ManifestEntry, LoggedChange, Manifest } from "../storage/manifest.ts"

/** A commit as the workspace hands it over to be decided. */
export interface CommitToDecide {
  /** The id of the call that it is made for. */
  readonly call: string
  readonly changes: ReadonlyArray<ChangedPath>
  /** Future content of a changed file. */
  readonly content: (path: string) => Iterable<Uint8Array>
}

export interface PreparedChanges {
  readonly changes: ReadonlyArray<LoggedChange>
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** Paths whose content stays on this member: secret, or too large. */
  readonly notCarried: ReadonlyArray<string>
}

/** A file whose content is read when all moves are known. */
interface NewFile {
  readonly kind: "new_file"
  readonly executable?: true
}

/** The changes of a commit as the log has them: what each path holds in the end. */
export const loggedChanges = (
  manifest: Manifest,
  commit: CommitToDecide,
  { isSecret, maximumBytes }: { readonly isSecret: (path: string) => boolean; readonly maximumBytes: number }
): PreparedChanges => {
  const after = new Map<string, ManifestEntry | NewFile | null>()
  const now = (path: string): ManifestEntry | NewFile | null => {
    const changed = after.get(path)
    return changed === undefined ? (manifest.get(path) ?? null) : changed
  }
  const below = (path: string): ReadonlyArray<string> => {
    const isBelow = (other: string): boolean => other.startsWith(`${path}/`)
    const known = [...new Set([...manifest.keys(), ...after.keys()])].filter(isBelow)
    return known.filter((other) => now(other) !== null)
  }
  const remove = (path: string): void => {
    for (const other of after.keys()) if (other.startsWith(`${path}/`)) after.delete(other)
    after.set(path, null)
  }
  for (const change of commit.changes) {
    const { path, movedTo, kind, what } = change
    if (kind === "deleted") remove(path)
    else if (kind === "moved" && movedTo !== undefined) {
      const moved = [path, ...(what === "directory" ? below(path) : [])].map((from) => [from, now(from)] as const)
      remove(path)
      for (const [from, entry] of moved)
        after.set(`${movedTo}${from.slice(path.length)}`, entry ?? entryOf(change, null))
    } else after.set(path, entryOf(change, now(path)))
  }
  const contents = new Map<string, Uint8Array>()
  const notCarried: Array<string> = []
  const changes = [...after].flatMap(([path, entry]): ReadonlyArray<LoggedChange> => {
    if (entry === null) return [{ path, entry }]
    if (isSecret(path)) {
      notCarried.push(path)
      return []
    }
    if (entry.kind !== "new_file") return [{ path, entry }]
    const content = Buffer.concat([...commit.content(path)])
    if (content.length > maximumBytes) {
      notCarried.push(path)
      // An older content must not come back in its place.
      return [{ path, entry: null }]
    }
    const sha256 = sha256Of(content)
    contents.set(sha256, content)
    const { executable } = entry
    return [{ path, entry: { kind: "file", sha256, size: content.length, ...(executable && { executable }) } }]
  })
  // Deletions come first: a file may take the place of a directory and the other way round.
  const rank = ({ entry }: LoggedChange): number => (entry === null ? 0 : 1)
  return { changes: changes.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1)), contents, notCarried }
}

const entryOf = (change: ChangedPath, before: ManifestEntry | NewFile | null): ManifestEntry | NewFile => {
  const { what, contentAfter, modeAfter } = change
  if (what === "directory") return { kind: "directory" }
  if (what === "symlink") return { kind: "symlink", target: textOf(contentAfter) }
  const wasExecutable = before !== null && "executable" in before && before.executable
  const isExecutable = modeAfter === undefined ? wasExecutable : (modeAfter & 0o111) !== 0
  return { kind: "new_file", ...(isExecutable && { executable: true as const }) }
}

const textOf = (content: ChangedPath["contentAfter"]): string =>
  content === undefined
    ? ""
    : new TextDecoder().decode(content instanceof Uint8Array ? content : Buffer.concat([...content]))
