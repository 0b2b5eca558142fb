import {
  type FileInfo,
  type FileKind,
  type GlobResult,
  type ListError,
  type LookError,
  type ToolError,
  type WalkEntry,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"

/** An entry of a listing. */
export interface ListedEntry {
  /** Relative to the directory that was listed. */
  readonly path: string
  readonly kind: FileKind
}

export interface Listing {
  readonly entries: ReadonlyArray<ListedEntry>
  /** True when there is more than was asked for. */
  readonly truncated: boolean
}

/** Git's own directory is never listed. */
const gitDirectory = ".git"

export interface ListOptions {
  /** How many levels below the directory; its own entries only when 0. */
  readonly depth?: number
  /** Entries to pass over, and to return at most. */
  readonly offset?: number
  readonly limit?: number
  /** Tests whether to show an entry, and to look into it. */
  readonly include?: (entry: WalkEntry) => boolean
}

/** Everything below a directory in the order of the paths. The walk ends with the last entry that is wanted. */
export const listInOrder = Effect.fnUntraced(function* (
  path: string,
  { depth = 0, offset = 0, limit = Number.POSITIVE_INFINITY, include = () => true }: ListOptions
): Effect.fn.Return<Listing, ListError, Workspace> {
  const workspace = yield* Workspace
  const entries: Array<ListedEntry> = []
  let seen = 0
  let truncated = false
  yield* workspace.walk(path, (entry) => {
    if (entry.name === gitDirectory || !include(entry)) return "skip"
    if (entries.length === limit) {
      truncated = true
      return "stop"
    }
    if (seen >= offset) entries.push({ path: entry.path, kind: entry.kind })
    seen++
    return entry.depth >= depth ? "skip" : "continue"
  })
  return { entries, truncated }
})

/** Regular files below a directory at any depth, in the order of the paths. */
export const listFiles = Effect.fnUntraced(function* (
  path: string,
  { limit }: { readonly limit: number }
): Effect.fn.Return<{ files: ReadonlyArray<string>; truncated: boolean }, ListError, Workspace> {
  const workspace = yield* Workspace
  const files: Array<string> = []
  let truncated = false
  yield* workspace.walk(path, (entry) => {
    if (entry.name === gitDirectory) return "skip"
    if (entry.kind !== "file") return "continue"
    if (files.length === limit) {
      truncated = true
      return "stop"
    }
    files.push(entry.path)
    return "continue"
  })
  return { files, truncated }
})

/** Entries level by level, sorted within each directory. */
export const listBreadthFirst = Effect.fnUntraced(function* (
  path: string,
  { depth = 0, offset = 0, limit = Number.POSITIVE_INFINITY }: Omit<ListOptions, "include">
): Effect.fn.Return<Listing, ListError, Workspace> {
  const workspace = yield* Workspace
  const entries: Array<ListedEntry> = []
  let seen = 0
  let level: ReadonlyArray<string> = [""]
  for (let at = 0; at <= depth && level.length > 0; at++) {
    const below: Array<string> = []
    for (const directory of level) {
      // A directory below that can't be read does not spoil the listing of the others.
      const listed = yield* workspace.list(directory === "" ? path : `${path}/${directory}`).pipe(
        Effect.catchIf(
          () => directory !== "",
          () => Effect.succeed([])
        )
      )
      for (const { name, kind } of listed) {
        if (name === gitDirectory) continue
        if (entries.length === limit) return { entries, truncated: true }
        const entry = { path: directory === "" ? name : `${directory}/${name}`, kind }
        if (seen >= offset) entries.push(entry)
        seen++
        if (kind === "directory") below.push(entry.path)
      }
    }
    level = below
  }
  return { entries, truncated: false }
})

/** Files that match a pattern, relative to the directory. */
export const listMatching = Effect.fnUntraced(function* (
  path: string,
  pattern: string,
  { limit }: { readonly limit?: number } = {}
): Effect.fn.Return<GlobResult, ListError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  return yield* workspace.glob(path, pattern, { limit: limit ?? Number.MAX_SAFE_INTEGER })
})

/**
 * An entry with what `stat` tells. Entries that can't be looked at, because they went away meanwhile or lie where
 * nobody may look, are left out; where that would leave nothing, the reason is the answer.
 */
export const withInfo = Effect.fnUntraced(function* (
  directory: string,
  paths: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<{ readonly path: string; readonly info: FileInfo }>, LookError, Workspace> {
  const workspace = yield* Workspace
  const described: Array<{ readonly path: string; readonly info: FileInfo }> = []
  let failure: LookError | undefined
  for (const path of paths) {
    const looked = yield* Effect.result(workspace.info(`${directory}/${path}`, { follow: false }))
    if (looked._tag === "Success") described.push({ path, info: looked.success })
    else if (looked.failure.code !== "file_not_found") failure = looked.failure
  }
  if (described.length === 0 && failure !== undefined) return yield* failure
  return described
})
