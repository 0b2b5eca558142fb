import { availableParallelism } from "node:os"

import type { Processes, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { CountedFile, OtherSearch } from "./count-matches.ts"
import type { Expression } from "./expression.ts"
import { numberAt, OutputRecords } from "./output-records.ts"
import { type Ripgrep, type RipgrepError, runRipgrep } from "./ripgrep.ts"

/** Where a line matches first. */
export interface MatchPosition {
  /** From 1. */
  readonly line: number
  /** In bytes of what ripgrep reads, from 1: of UTF-8 for UTF-16, and for Latin-1 where that was searched as such. */
  readonly column: number
  /** Where the line begins, in the same bytes, from the beginning of the file. */
  readonly offset: number
}

export interface LocatedFile extends Pick<CountedFile, "path" | "as"> {
  /** In the order of the lines. */
  readonly positions: ReadonlyArray<MatchPosition>
}

// One processor is for reading what has been located. ripgrep itself takes no more than twelve.
const threads = `--threads=${Math.min(12, Math.max(1, availableParallelism() - 1))}`

export interface LocateOptions {
  /** Matching lines of a file beyond are left out. */
  readonly perFile: number
  readonly timeoutMs: number
  /** Told of each file, in the order they were given in: as soon as all is known about it and those before. */
  readonly onLocated: (file: LocatedFile) => void
}

/** Asks ripgrep once more, only about these files, for the places of their matching lines. */
export const locateMatches = Effect.fnUntraced(function* (
  expression: Expression,
  files: ReadonlyArray<CountedFile>,
  { perFile, timeoutMs, onLocated }: LocateOptions
): Effect.fn.Return<{ readonly timedOut: boolean }, RipgrepError, Ripgrep | Processes | Workspace> {
  const until = Date.now() + timeoutMs
  const positions = new Map<string, Array<MatchPosition>>(files.map(({ path }) => [path, []]))
  const records = positionRecords()
  let told = 0
  const tell = (isKnown: (file: CountedFile, positions: ReadonlyArray<MatchPosition>) => boolean) => {
    for (const file of files.slice(told)) {
      const known = positions.get(file.path) ?? []
      if (!isKnown(file, known)) return
      onLocated({ ...file, positions: known })
      told++
    }
  }
  const locate = (targets: ReadonlyArray<CountedFile>, as: Pick<OtherSearch, "expression" | "options">) =>
    runRipgrep({
      expression: as.expression,
      // With --max-columns the text of a line is replaced by a short remark: a line of megabytes costs nothing.
      // --text because these files are known not to be binary, and a remark about that would not parse.
      options: [
        threads,
        "--line-number",
        "--column",
        "--byte-offset",
        "--max-columns=1",
        "--text",
        `--max-count=${perFile}`,
        ...as.options
      ],
      targets: targets.map(({ path }) => path),
      timeoutMs: Math.max(1, until - Date.now()),
      onOutput: (chunk) => {
        for (const { path, ...position } of records.push(chunk)) positions.get(path)?.push(position)
        tell(({ count }, known) => known.length >= Math.min(count, perFile))
        return false
      }
    })
  let timedOut = false
  for (const [as = { expression, options: [] }, alike] of Map.groupBy(files, (file) => file.as)) {
    if (!timedOut) ({ timedOut } = yield* locate(alike, as))
  }
  tell(() => true)
  return { timedOut }
})

/** The fields are `line:column:offset:text`. */
const positionRecords = (): OutputRecords<MatchPosition & { readonly path: string }> =>
  new OutputRecords(({ path }, fields) => {
    const column = fields.indexOf(colon) + 1
    const offset = fields.indexOf(colon, column) + 1
    return { path, line: numberAt(fields, 0), column: numberAt(fields, column), offset: numberAt(fields, offset) }
  })

const colon = 58
