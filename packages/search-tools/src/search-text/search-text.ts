import { posix } from "node:path"

import { type ListError, type Processes, type ReadError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { CountedFile, Counts } from "./ripgrep/count-matches.ts"
import { problemWith } from "./ripgrep/expression.ts"
import { asWritten } from "./ripgrep/file-filter.ts"
import { allFiles, type FilesRequest, firstFiles } from "./ripgrep/matching-files.ts"
import { noLimitMs, type Ripgrep, type RipgrepError } from "./ripgrep/ripgrep.ts"
import { lookAt, placeOf, type PlaceRequest } from "./search-place.ts"
import { type FoundMatch, showMatches } from "./show/show-matches.ts"

export interface SearchRequest extends PlaceRequest, FilesRequest {
  readonly contextLines: number
  /** Count every match, beyond the results too. Without that, the search ends with the last result. */
  readonly countAll: boolean
  /** When time is up, what was found by then is the answer. */
  readonly timeLimitMs?: number
  /** When nothing matches, look further, to say why: whether ignored files would have, or no file fits the globs. */
  readonly explainNothing?: boolean
}

export interface SearchResult {
  /** Where the search began, relative to the workspace. */
  readonly directory: string
  /** By path, then by line; one a line. */
  readonly matches: ReadonlyArray<FoundMatch>
  /** Lines that match, whether shown or not; with `countAll` only. */
  readonly total: number | undefined
  readonly truncated: boolean
  readonly timedOut: boolean
  readonly matchingFiles: number
  /** With `countFiles` only; else those with a match. */
  readonly filesSearched: number
  readonly leftOut: LeftOut
  /** Why nothing matches, as far as that was to be explained. */
  readonly nothing: Nothing
}

export interface LeftOut {
  /** Files and directories that could not be read. */
  readonly unreadable: number
  /** Files with a match whose name is not UTF-8. */
  readonly unnameable: number
  /** True when the largest files were passed over, since ripgrep ran out of memory on one. */
  readonly large: boolean
}

export interface Nothing {
  /** Matches in files that `.gitignore` leaves out. */
  readonly ignored?: IgnoredMatches
  /** True when no file fits the globs, an ignored one neither. */
  readonly noFileFits?: boolean
}

export interface IgnoredMatches {
  readonly matches: number
  readonly files: number
  /** False when there was no time to look at all files. */
  readonly isAll: boolean
}

export type SearchError = RipgrepError | ListError | ReadError
export type SearchServices = Ripgrep | Processes | Workspace

/**
 * Finds lines. The files come from a pass of ripgrep that only counts, the places of the lines from a second one
 * over the few files that will be shown, and the lines themselves from the workspace.
 */
export const searchText = Effect.fnUntraced(function* (
  request: SearchRequest
): Effect.fn.Return<SearchResult, SearchError, SearchServices> {
  const problem = problemWith(request)
  if (problem !== undefined) return yield* problem
  const place = yield* placeOf(request, request.timeLimitMs ?? noLimitMs)
  const files = yield* (request.countAll ? allFiles(request, place) : firstFiles(request, place)).pipe(
    Effect.mapError((error) => asWritten(error, place.filter.written)),
    Effect.flatMap(withoutCommits)
  )
  // Nothing found where nobody could look is no answer: then this fails, and says why.
  const unreadable = Math.max(files.unreadable, place.filter.unreadable ?? 0)
  if (files.total === 0 && unreadable > 0) yield* lookAt(place)
  const { matches, timedOut, ...shown } = yield* showMatches(request, enoughFor(request.maxResults, files.files))
  const isToExplain = request.explainNothing === true && files.total === 0 && !files.timedOut
  return {
    directory: place.directory,
    matches,
    total: request.countAll ? files.total : undefined,
    truncated: files.total > matches.length,
    timedOut: files.timedOut || timedOut,
    matchingFiles: files.matchingFiles,
    filesSearched: request.countFiles === true ? (place.filter.files ?? files.filesSearched) : files.filesSearched,
    leftOut: {
      unreadable: unreadable + shown.unreadable,
      unnameable: files.unnameable,
      large: files.withoutLarge === true
    },
    // A look at what nobody asked for may fail; that is no failure of the search.
    nothing: isToExplain ? yield* explainNothing(request).pipe(Effect.orElseSucceed(() => ({}))) : {}
  }
})

/** Without files that a commit puts beside its targets for a moment. Others of such names are listed, so they count. */
const withoutCommits = Effect.fnUntraced(function* (found: Counts): Effect.fn.Return<Counts, never, Workspace> {
  const suspects = found.files.filter(({ path }) => /(?:^|\/)\.haft-[0-9a-f]{16}-\d+\.tmp$/u.test(path))
  if (suspects.length === 0) return found
  const workspace = yield* Workspace
  const passing = new Set<CountedFile>()
  for (const file of suspects) {
    const { dir, base } = posix.parse(file.path)
    const entries = yield* workspace.list(dir === "" ? "." : dir).pipe(Effect.orElseSucceed(() => []))
    if (!entries.some(({ name }) => name === base)) passing.add(file)
  }
  const count = [...passing].reduce((sum, file) => sum + file.count, 0)
  return {
    ...found,
    files: found.files.filter((file) => !passing.has(file)),
    total: found.total - count,
    matchingFiles: found.matchingFiles - passing.size
  }
})

const enoughFor = (maxResults: number, files: ReadonlyArray<CountedFile>): ReadonlyArray<CountedFile> => {
  let matches = 0
  const last = files.findIndex(({ count }) => (matches += count) >= maxResults)
  return last < 0 ? files : files.slice(0, last + 1)
}

/** Long enough for most trees; a hint is not worth more. */
const hintTimeMs = 2000

const explainNothing = Effect.fnUntraced(function* (
  request: SearchRequest
): Effect.fn.Return<Nothing, SearchError, SearchServices> {
  const hasGlobs = request.include.length > 0
  if (request.includeIgnored === true && !hasGlobs) return {}
  const everywhere = { ...request, includeIgnored: true, countFiles: hasGlobs }
  const place = yield* placeOf(everywhere, hintTimeMs)
  const { total, matchingFiles, timedOut, ...counts } = yield* allFiles(everywhere, place)
  if (total > 0) return { ignored: { matches: total, files: matchingFiles, isAll: !timedOut } }
  const isSure =
    !timedOut && counts.withoutLarge !== true && counts.unreadable === 0 && (place.filter.unreadable ?? 0) === 0
  return { noFileFits: hasGlobs && isSure && (place.filter.files ?? counts.filesSearched) === 0 }
})
