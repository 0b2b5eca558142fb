import { type GlobResult, type ListError, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

export interface FindRequest {
  /** A directory of the workspace. */
  readonly path: string
  /** Matched against paths relative to the directory. */
  readonly pattern: string
  readonly includeIgnored?: boolean
  /** Find symbolic links by their own names, too. */
  readonly includeLinks?: boolean
  readonly maxResults: number
  /** Directories below the start that are looked into. */
  readonly maxDepth: number
  /** When nothing matches, look whether ignored files would have. */
  readonly hintAtIgnored?: boolean
}

export interface FoundFiles extends GlobResult {
  readonly truncated: boolean
  /** Files that match and that `.gitignore` leaves out, when there are no others. */
  readonly ignored: IgnoredFiles | undefined
}

export interface IgnoredFiles {
  readonly files: number
  /** False when there was no time to look everywhere. */
  readonly isAll: boolean
}

/** Finds files by name, and links if so asked, sorted, without `.git` and what `.gitignore` leaves out. */
export const findFiles = Effect.fnUntraced(function* ({
  path,
  pattern,
  includeIgnored = false,
  includeLinks = false,
  maxResults,
  maxDepth,
  hintAtIgnored = false
}: FindRequest): Effect.fn.Return<FoundFiles, ListError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  const found = yield* workspace.glob(path, pattern, {
    limit: maxResults,
    maxDepth,
    respectIgnore: !includeIgnored,
    includeLinks
  })
  // Nothing found where nobody could look is no answer: then this fails, and says why.
  if (found.total === 0 && (found.unreadable ?? 0) > 0) yield* workspace.list(path)
  const isHinting = hintAtIgnored && !includeIgnored && found.total === 0
  const everywhere = isHinting
    ? yield* workspace.glob(path, pattern, { limit: 0, maxDepth, includeLinks, timeLimitMs: hintTimeMs })
    : undefined
  const ignored =
    everywhere === undefined || everywhere.total === 0
      ? undefined
      : { files: everywhere.total, isAll: everywhere.timedOut !== true }
  return { ...found, truncated: found.total > found.paths.length, ignored }
})

/** Long enough for most trees; a hint is not worth more. */
const hintTimeMs = 2000

/** Advice about what was left out, in a contract's own terms. */
export interface FindAdvice {
  /** Absent where the contract itself says how deep a search goes. */
  readonly goDeeper?: string
  readonly includeIgnored: string
}

/** Remarks about the files for a reader. */
export const remarksOn = (
  { unreadable = 0, unnameable = 0, tooDeep = 0, ignored }: Omit<FoundFiles, "paths" | "links" | "total" | "truncated">,
  { goDeeper, includeIgnored }: FindAdvice
): ReadonlyArray<string> => [
  ...(unreadable > 0 ? [`${unreadable} ${unreadable === 1 ? "directory" : "directories"} could not be read.`] : []),
  ...(tooDeep > 0 && goDeeper !== undefined
    ? [`${tooDeep} ${tooDeep === 1 ? "directory was" : "directories were"} not looked into: too deep. ${goDeeper}`]
    : []),
  ...(unnameable > 0 ? [`${unnameable} ${unnameable === 1 ? "file" : "files"} left out: the name is not UTF-8.`] : []),
  ...(ignored === undefined
    ? []
    : [
        `${ignored.isAll ? "" : "At least "}${ignored.files} ${ignored.files === 1 ? "file matches" : "files match"} that .gitignore leaves out. ${includeIgnored}`
      ])
]
