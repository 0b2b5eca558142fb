import { type GlobResult, type ListError, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

export interface FindRequest {
  /** A directory of the workspace. */
  readonly path: string
  /** Matched against paths relative to the directory. */
  readonly pattern: string
  readonly includeIgnored?: boolean
  readonly maxResults: number
  /** Directories below the start that are looked into. */
  readonly maxDepth: number
}

export interface FoundFiles extends GlobResult {
  readonly truncated: boolean
}

/** Finds files by name, sorted, without `.git` and what `.gitignore` leaves out. */
export const findFiles = Effect.fnUntraced(function* ({
  path,
  pattern,
  includeIgnored = false,
  maxResults,
  maxDepth
}: FindRequest): Effect.fn.Return<FoundFiles, ListError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  const found = yield* workspace.glob(path, pattern, { limit: maxResults, maxDepth, respectIgnore: !includeIgnored })
  return { ...found, truncated: found.total > found.paths.length }
})

/** What a reader should know about the files besides the files. */
export const remarksOn = ({
  unreadable = 0,
  unnameable = 0
}: Pick<GlobResult, "unreadable" | "unnameable">): ReadonlyArray<string> => [
  ...(unreadable > 0 ? [`${unreadable} ${unreadable === 1 ? "directory" : "directories"} could not be read.`] : []),
  ...(unnameable > 0 ? [`${unnameable} ${unnameable === 1 ? "file" : "files"} left out: the name is not UTF-8.`] : [])
]
