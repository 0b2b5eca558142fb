import type { Processes, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { Expression } from "./expression.ts"
import { type FoundPath, numberAt, OutputRecords } from "./output-records.ts"
import { type Ripgrep, type RipgrepError, runRipgrep } from "./ripgrep.ts"

export interface CountedFile {
  readonly path: string
  /** Lines that match. */
  readonly count: number
  /** How it was searched, where not like the others. */
  readonly as?: OtherSearch
}

/** How files that are not UTF-8 are searched. */
export interface OtherSearch {
  readonly expression: Expression
  readonly options: ReadonlyArray<string>
  /** Unit of match positions: bytes of the file, or of its text in UTF-8. */
  readonly reading: "latin1-bytes" | "latin1"
}

export interface Counts {
  /** The first files that have a match, by path; enough of them for the results asked for. */
  readonly files: ReadonlyArray<CountedFile>
  /** Lines that match, in all files. */
  readonly total: number
  readonly matchingFiles: number
  /** Those with a match only, unless all were to be counted. */
  readonly filesSearched: number
  /** Files with a match whose name is not UTF-8, so that nobody could open them. */
  readonly unnameable: number
  readonly unreadable: number
  /** True when files over {@link largestMiB} were passed over, since ripgrep ran out of memory on one. */
  readonly withoutLarge?: boolean
  readonly timedOut: boolean
}

/** Lines of a file of this size fit into ripgrep's memory, those of several at once too. */
export const largestMiB = 256

export interface CountOptions {
  readonly expression: Expression
  readonly options: ReadonlyArray<string>
  readonly targets: ReadonlyArray<string>
  /** Files beyond are counted, but not kept. */
  readonly keep: number
  readonly accepts: (path: string) => boolean
  /** Have ripgrep say how many files it searched. It counts more for that than it has to: a third more work at worst. */
  readonly countFiles: boolean
  readonly timeoutMs: number
}

/** Counts the matching lines of every file, in parallel and in no order: what ripgrep does fastest. */
export const countMatches = Effect.fnUntraced(function* ({
  expression,
  options,
  targets,
  keep,
  accepts,
  countFiles,
  timeoutMs
}: CountOptions): Effect.fn.Return<Counts, RipgrepError, Ripgrep | Processes | Workspace> {
  const records = countRecords()
  let files: Array<CountedFile> = []
  const counts = { total: 0, matchingFiles: 0, unnameable: 0 }
  const end = yield* runRipgrep({
    expression,
    options: [...options, "--count", ...(countFiles ? ["--stats"] : [])],
    targets,
    timeoutMs,
    onOutput: (chunk) => {
      for (const file of records.push(chunk)) {
        if (!accepts(file.path)) continue
        if (!file.isNameable) {
          counts.unnameable++
          continue
        }
        counts.total += file.count
        counts.matchingFiles++
        files.push({ path: file.path, count: file.count })
      }
      // Cut now and then, so that a match in every file of a huge tree does not fill the memory.
      if (files.length > 4 * keep + 4096) files = firstOf(files, keep)
      return false
    }
  })
  const filesSearched = filesSearchedIn(records) ?? counts.matchingFiles
  const { timedOut, unreadable } = end
  return { ...counts, files: firstOf(files, keep), filesSearched, unreadable, timedOut }
})

export interface FirstFiles {
  readonly files: ReadonlyArray<CountedFile>
  readonly filesSearched: number
  readonly unnameable: number
  readonly unreadable: number
  /** False: ripgrep found everything there is. */
  readonly stoppedEarly: boolean
  readonly timedOut: boolean
}

/** Takes files in ripgrep's own path order, one thread, and stops as soon as they hold `matches` matching lines. */
export const firstMatches = Effect.fnUntraced(function* ({
  expression,
  options,
  targets,
  accepts,
  countFiles,
  timeoutMs,
  matches
}: Omit<CountOptions, "keep"> & { readonly matches: number }): Effect.fn.Return<
  FirstFiles,
  RipgrepError,
  Ripgrep | Processes | Workspace
> {
  const records = countRecords()
  const files: Array<CountedFile> = []
  let unnameable = 0
  let total = 0
  const end = yield* runRipgrep({
    expression,
    // No --max-count: ripgrep knows a binary file by a NUL anywhere, so it has to read to the end.
    options: [...options, "--count", "--sort=path", ...(countFiles ? ["--stats"] : [])],
    targets,
    timeoutMs,
    onOutput: (chunk) => {
      for (const { path, isNameable, count } of records.push(chunk)) {
        if (total >= matches) break
        if (!accepts(path)) continue
        if (!isNameable) {
          unnameable++
          continue
        }
        files.push({ path, count })
        total += count
      }
      return total >= matches
    }
  })
  return { files, filesSearched: filesSearchedIn(records) ?? files.length, unnameable, ...end }
})

/** The first by path. */
export const firstOf = (files: ReadonlyArray<CountedFile>, keep: number): Array<CountedFile> =>
  files.toSorted((one, other) => (one.path < other.path ? -1 : 1)).slice(0, keep)

const countRecords = (): OutputRecords<CountedFile & FoundPath> =>
  new OutputRecords((found, fields) => ({ ...found, count: numberAt(fields, 0) }))

/** From the statistics that follow the last record; undefined when the process did not get that far. */
const filesSearchedIn = ({ rest }: OutputRecords<unknown>): number | undefined => {
  const found = /(\d+) files searched/u.exec(new TextDecoder().decode(rest))
  return found === null ? undefined : Number(found[1])
}
