import { type Processes, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { SearchPlace } from "../search-place.ts"
import { type CountedFile, countMatches, type Counts, firstMatches, firstOf, largestMiB } from "./count-matches.ts"
import type { Expression } from "./expression.ts"
import { type Latin1Files, needsLatin1, searchLatin1 } from "./latin-1.ts"
import { ranOutOfMemory, type Ripgrep, type RipgrepError } from "./ripgrep.ts"
import { isIgnored } from "./scope.ts"

export interface FilesRequest extends Expression {
  readonly maxResults: number
  /** Count the files that were searched, which takes longer. */
  readonly countFiles?: boolean
}

const noFiles: Counts = {
  files: [],
  total: 0,
  matchingFiles: 0,
  filesSearched: 0,
  unnameable: 0,
  unreadable: 0,
  timedOut: false
}

const withoutLargest = `--max-filesize=${largestMiB}M`

/** Those with a match, all of them counted. */
export const allFiles = Effect.fnUntraced(function* (
  request: FilesRequest,
  place: SearchPlace
): Effect.fn.Return<Counts, RipgrepError, Ripgrep | Processes | Workspace> {
  const { filter, scope } = place
  if (filter.directory === undefined) return { ...noFiles, timedOut: filter.timedOut === true }
  const pass = passOf(request, place)
  const latin1 = yield* searchLatin1(pass, place.until).pipe(
    Effect.catchIf(ranOutOfMemory, () =>
      searchLatin1({ ...pass, options: [...pass.options, withoutLargest] }, place.until)
    )
  )
  const count = (options: ReadonlyArray<string>) =>
    countMatches({
      ...pass,
      options: [...pass.options, ...options],
      accepts: (path) => pass.accepts(path) && !latin1.paths.has(path),
      keep: request.maxResults,
      timeoutMs: Math.max(1, place.until - Date.now())
    })
  const withoutLarge = count([withoutLargest]).pipe(
    Effect.map((counted): Counts => ({ ...counted, withoutLarge: true }))
  )
  const counts = yield* count([]).pipe(
    Effect.catchIf(
      (error) => ranOutOfMemory(error) && place.file === undefined,
      () => withoutLarge
    )
  )
  const isEmpty = !counts.timedOut && counts.filesSearched === 0
  if (isEmpty && scope.heedsAbove && (yield* isIgnored(place.directory, request))) {
    return yield* allFiles(request, ignoringAbove(place, filter.directory))
  }
  return withLatin1({ ...counts, timedOut: counts.timedOut || filter.timedOut === true }, latin1, request.maxResults)
})

const withLatin1 = (counts: Counts, { files, timedOut }: Latin1Files, keep: number): Counts => ({
  ...counts,
  files: files.length === 0 ? counts.files : firstOf([...counts.files, ...files], keep),
  total: counts.total + files.reduce((sum, { count }) => sum + count, 0),
  matchingFiles: counts.matchingFiles + files.length,
  timedOut: counts.timedOut || timedOut
})

/** The pass in order has one thread; what it does not find in this time, the parallel one finds sooner. */
const orderedPassMs = 250

/** Enough of them for the results asked for, and no more. */
export const firstFiles = Effect.fnUntraced(function* (
  request: FilesRequest,
  place: SearchPlace
): Effect.fn.Return<Counts, RipgrepError, Ripgrep | Processes | Workspace> {
  const { filter, scope } = place
  if (filter.directory === undefined) return noFiles
  if (needsLatin1(request)) return yield* allFiles(request, place)
  const first = yield* firstMatches({
    ...passOf(request, place),
    matches: request.maxResults + 1,
    timeoutMs: orderedPassMs
  }).pipe(Effect.catchIf(ranOutOfMemory, () => Effect.succeed(undefined)))
  if (first === undefined) return yield* allFiles(request, place)
  const isEmpty = !first.timedOut && !first.stoppedEarly && first.filesSearched === 0
  if (isEmpty && scope.heedsAbove && (yield* isIgnored(place.directory, request))) {
    return yield* firstFiles(request, ignoringAbove(place, filter.directory))
  }
  if (first.timedOut || (first.stoppedEarly && !(yield* isCertain(first.files)))) return yield* allFiles(request, place)
  const files = first.files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const total = files.reduce((sum, { count }) => sum + count, 0)
  return { ...first, files, total, matchingFiles: files.length }
})

const passOf = (request: FilesRequest, { filter, scope, directory }: SearchPlace) => {
  const below = filter.directory === "." ? "" : `${filter.directory ?? directory}/`
  return {
    expression: request,
    options: [...filter.options, ...scope.options],
    targets: [scope.target],
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
