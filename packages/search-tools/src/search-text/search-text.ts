import { type ListError, type Processes, type ReadError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { type CountedFile, countMatches, type Counts, firstMatches } from "./count-matches.ts"
import { type Expression, problemWith } from "./expression.ts"
import { asWritten, type FileFilter, filterFiles, literally } from "./file-filter.ts"
import { noLimitMs, type Ripgrep, type RipgrepError } from "./ripgrep.ts"
import { isIgnored, type Scope, scopeOf } from "./scope.ts"
import { type FoundMatch, showMatches } from "./show-matches.ts"

export interface SearchRequest extends Expression {
  /** A directory of the workspace, or one file. */
  readonly path: string
  /** Glob patterns; one with `!` before it leaves files out. None means every file. */
  readonly include: ReadonlyArray<string>
  readonly includeIgnored?: boolean
  readonly maxResults: number
  readonly contextLines: number
  /** Count every match, beyond the results too. Without that, the search ends with the last result. */
  readonly countAll: boolean
  /** Count the files that were searched, which takes longer. */
  readonly countFiles?: boolean
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
    Effect.mapError((error) => asWritten(error, place.filter.written))
  )
  // Nothing found where nobody could look is no answer: then this fails, and says why.
  const unreadable = Math.max(files.unreadable, place.filter.unreadable ?? 0)
  if (files.total === 0 && unreadable > 0) yield* look(place)
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
    leftOut: { unreadable: unreadable + shown.unreadable, unnameable: files.unnameable },
    nothing: isToExplain ? yield* explainNothing(request) : {}
  }
})

interface SearchPlace {
  readonly directory: string
  /** When what is asked for is one file. */
  readonly file?: string
  readonly filter: FileFilter
  readonly scope: Scope
  /** In milliseconds, when time is up. */
  readonly until: number
}

const placeOf = Effect.fnUntraced(function* (request: SearchRequest, timeLimitMs: number) {
  const workspace = yield* Workspace
  const until = Date.now() + timeLimitMs
  const { includeIgnored = false } = request
  const { kind, path } = yield* workspace.info(request.path)
  if (kind !== "directory" && kind !== "file") {
    return yield* toolError("not_a_directory", `${request.path} is neither a directory nor a regular file`, {
      suggestion: "Name a directory, or a file that can be read.",
      details: { path: request.path }
    })
  }
  const directory = kind === "file" ? path.split("/").slice(0, -1).join("/") || "." : path
  if (path.split("/").includes(".git")) {
    const filter: FileFilter = { directory: undefined, options: [], accepts: () => false }
    return { directory, filter, scope: { target: directory, options: [], heedsAbove: false }, until }
  }
  if (kind === "file") {
    // A colon would mean something in the definition of a type; any character will do, since the path is compared.
    const name = literally(path.split("/").at(-1) ?? "").replaceAll(":", "?")
    const options = [`--type-add=wanted:${name}`, "--type=wanted", "--max-depth=1", "--no-ignore"]
    const filter: FileFilter = { directory, options, accepts: (found) => found === path }
    return { directory, file: path, filter, scope: { target: directory, options: [], heedsAbove: false }, until }
  }
  const filter = yield* filterFiles(directory, request.include, { includeIgnored, timeLimitMs })
  const start = filter.directory ?? directory
  const scope = includeIgnored ? { target: start, options: ["--no-ignore"], heedsAbove: false } : yield* scopeOf(start)
  return { directory, filter, scope, until }
})

const look = Effect.fnUntraced(function* ({
  directory,
  file
}: SearchPlace): Effect.fn.Return<void, ListError | ReadError, Workspace> {
  const workspace = yield* Workspace
  if (file === undefined) yield* workspace.list(directory)
  else yield* workspace.scan(file, () => false)
})

const noFiles: Counts = {
  files: [],
  total: 0,
  matchingFiles: 0,
  filesSearched: 0,
  unnameable: 0,
  unreadable: 0,
  timedOut: false
}

const allFiles = Effect.fnUntraced(function* (
  request: SearchRequest,
  place: SearchPlace
): Effect.fn.Return<Counts, RipgrepError, SearchServices> {
  const { filter, scope } = place
  if (filter.directory === undefined) return { ...noFiles, timedOut: filter.timedOut === true }
  const counts = yield* countMatches({
    ...passOf(request, place),
    keep: request.maxResults,
    timeoutMs: Math.max(1, place.until - Date.now())
  })
  const isEmpty = !counts.timedOut && counts.filesSearched === 0
  if (isEmpty && scope.heedsAbove && (yield* isIgnored(place.directory, request))) {
    return yield* allFiles(request, ignoringAbove(place, filter.directory))
  }
  return { ...counts, timedOut: counts.timedOut || filter.timedOut === true }
})

/** The pass in order has one thread; what it does not find in this time, the parallel one finds sooner. */
const orderedPassMs = 250

const firstFiles = Effect.fnUntraced(function* (
  request: SearchRequest,
  place: SearchPlace
): Effect.fn.Return<Counts, RipgrepError, SearchServices> {
  const { filter, scope } = place
  if (filter.directory === undefined) return noFiles
  const first = yield* firstMatches({
    ...passOf(request, place),
    matches: request.maxResults + 1,
    timeoutMs: orderedPassMs
  })
  const isEmpty = !first.timedOut && !first.stoppedEarly && first.filesSearched === 0
  if (isEmpty && scope.heedsAbove && (yield* isIgnored(place.directory, request))) {
    return yield* firstFiles(request, ignoringAbove(place, filter.directory))
  }
  if (first.timedOut || (first.stoppedEarly && !(yield* isCertain(first.files)))) return yield* allFiles(request, place)
  const files = first.files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const total = files.reduce((sum, { count }) => sum + count, 0)
  return { ...first, files, total, matchingFiles: files.length }
})

const passOf = (request: SearchRequest, { filter, scope, directory }: SearchPlace) => {
  const below = filter.directory === "." ? "" : `${filter.directory ?? directory}/`
  return {
    expression: request,
    options: [...filter.options, ...scope.options],
    target: scope.target,
    countFiles: request.countFiles === true || scope.heedsAbove,
    accepts: (path: string) => path.startsWith(below) && filter.accepts(path)
  }
}

const ignoringAbove = (place: SearchPlace, target: string): SearchPlace => ({
  ...place,
  scope: { target, options: [], heedsAbove: false }
})

/**
 * ripgrep goes from name to name, we sort whole paths: `a/x` is before `a.x` for it and after it for us. What it
 * has not seen yet can only come first for us beside a directory on the way to the last path, its name longer.
 */
const isCertain = Effect.fnUntraced(function* (
  files: ReadonlyArray<CountedFile>
): Effect.fn.Return<boolean, never, Workspace> {
  const workspace = yield* Workspace
  const last = files.reduce((greatest, { path }) => (path > greatest ? path : greatest), "")
  // Above the surrogates the order of UTF-8 and that of UTF-16 part.
  if (/[\uE000-\uFFFF]/u.test(last)) return false
  const names = last.split("/")
  for (const [depth, name] of names.slice(0, -1).entries()) {
    const above = names.slice(0, depth).join("/")
    const entries = yield* workspace.list(above === "" ? "." : above).pipe(Effect.orElseSucceed(() => []))
    if (entries.some((entry) => entry.name.startsWith(name) && entry.name !== name && entry.name < `${name}/`)) {
      return false
    }
  }
  return true
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
  const isSure = !timedOut && counts.unreadable === 0 && (place.filter.unreadable ?? 0) === 0
  return { noFileFits: hasGlobs && isSure && (place.filter.files ?? counts.filesSearched) === 0 }
})
