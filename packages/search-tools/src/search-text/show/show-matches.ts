import { isToolError, type Processes, type ReadError, type ToolError, Workspace } from "@haft/core"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

import { batchesOf } from "../ripgrep/batches.ts"
import type { CountedFile } from "../ripgrep/count-matches.ts"
import type { Expression } from "../ripgrep/expression.ts"
import { type LocatedFile, locateMatches } from "../ripgrep/locate-matches.ts"
import { noLimitMs, type Ripgrep, type RipgrepError } from "../ripgrep/ripgrep.ts"
import { lineOverhead, LinesAround, type MatchedLine } from "./lines-around.ts"
import { type AssumedEncoding, readingOf, readingOfLarge } from "./text-encoding.ts"

export interface FoundMatch extends MatchedLine {
  /** Relative to the workspace. */
  readonly path: string
}

export interface ShowRequest extends Expression {
  readonly maxResults: number
  readonly contextLines: number
  readonly timeLimitMs?: number
}

export interface ShownMatches {
  readonly matches: ReadonlyArray<FoundMatch>
  /** Files that could not be read any more. */
  readonly unreadable: number
  readonly timedOut: boolean
}

/** For the pass over the files that are shown, beyond the search's own limit. */
const locatingTimeMs = 10_000

/**
 * The matching lines of files that are known to have some, and those around them. They are read from the workspace
 * itself, which follows no link out and opens nothing but files. ripgrep only says where to look: whatever happened
 * to a path since, nothing from outside is shown. Some files are read while ripgrep is at work on the next.
 */
export const showMatches = Effect.fnUntraced(function* (
  request: ShowRequest,
  files: ReadonlyArray<CountedFile>
): Effect.fn.Return<ShownMatches, RipgrepError, Ripgrep | Processes | Workspace> {
  const shown = new Shown(request)
  const until = Date.now() + (request.timeLimitMs === undefined ? noLimitMs : locatingTimeMs)
  let timedOut = false
  for (const batch of batchesOf(files)) {
    if (timedOut || !shown.hasRoom) break
    const located = yield* Queue.unbounded<LocatedFile, Cause.Done>()
    const locating = locateMatches(request, batch, {
      perFile: request.maxResults,
      timeoutMs: Math.max(1, until - Date.now()),
      onLocated: (file) => void Queue.offerUnsafe(located, file)
    }).pipe(Effect.tap(() => Queue.end(located)))
    const [end] = yield* Effect.all([locating, readAsLocated(located, shown)], { concurrency: 2 })
    timedOut = end.timedOut
  }
  return { matches: shown.matches, unreadable: shown.unreadable, timedOut }
})

const readAsLocated = Effect.fnUntraced(function* (
  located: Queue.Dequeue<LocatedFile, Cause.Done>,
  shown: Shown
): Effect.fn.Return<void, never, Workspace> {
  for (;;) {
    const files = yield* Queue.takeAll(located).pipe(Effect.orElseSucceed(() => []))
    if (files.length === 0) return
    yield* readFiles(files, shown)
  }
})

/** Larger files are read in chunks. */
const maximumWhole = 256 * 1024

const readFiles = Effect.fnUntraced(function* (
  found: ReadonlyArray<LocatedFile>,
  shown: Shown
): Effect.fn.Return<void, never, Workspace> {
  const workspace = yield* Workspace
  const files = found.filter(({ positions }) => positions.length > 0)
  let next = 0
  const take = (content: Uint8Array | ToolError): boolean => {
    const file = files[next]
    if (file === undefined || !shown.hasRoom || (isToolError(content) && content.code === "file_too_large"))
      return false
    next++
    if (isToolError(content)) {
      shown.unreadable++
      return true
    }
    const lines = shown.begin(file, file.as?.reading ?? readingOf(content))
    lines.push(content)
    shown.add(file, lines)
    return true
  }
  for (;;) {
    const paths = files.slice(next).map(({ path }) => path)
    yield* workspace.readEach(paths, (_path, content) => take(content), { maxBytes: maximumWhole })
    const large = files[next++]
    if (large === undefined || !shown.hasRoom) return
    yield* readLarge(large, shown).pipe(
      Effect.match({
        onSuccess: (lines) => shown.add(large, lines),
        onFailure: () => void shown.unreadable++
      })
    )
  }
})

const readLarge = Effect.fnUntraced(function* (
  file: LocatedFile,
  shown: Shown
): Effect.fn.Return<LinesAround, ReadError, Workspace> {
  const workspace = yield* Workspace
  const read = Effect.fnUntraced(function* (reading: AssumedEncoding) {
    const lines = shown.begin(file, reading)
    yield* workspace.scan(file.path, (chunk) => lines.push(chunk))
    return lines
  })
  if (file.as !== undefined) return yield* read(file.as.reading)
  const lines = yield* read("utf-8")
  // Which encoding it is shows only in the whole file, and matters only for what is not ASCII.
  if (!lines.isBeyondAscii) return lines
  const reading = yield* readingOfLarge(file.path)
  return reading === "utf-8" ? lines : yield* read(reading)
})

/** A reply holds no more than so many characters of lines. */
const maximumCharacters = 8_000_000

/** Matches shown so far. */
class Shown {
  readonly matches: Array<FoundMatch> = []
  unreadable = 0
  readonly #request: ShowRequest
  #characters = 0

  constructor(request: ShowRequest) {
    this.#request = request
  }

  get hasRoom(): boolean {
    return this.matches.length < this.#request.maxResults && this.#characters <= maximumCharacters
  }

  /** The lines of a file, as many as there is room for. */
  begin({ positions }: LocatedFile, reading: AssumedEncoding): LinesAround {
    const { contextLines, maxResults } = this.#request
    const wanted = positions.slice(0, maxResults - this.matches.length)
    const room = maximumCharacters - this.#characters
    return new LinesAround(wanted, { reading, contextLines, maximumCharacters: room })
  }

  add({ path }: LocatedFile, lines: LinesAround): void {
    for (const line of lines.finish()) {
      this.#characters += charactersOf(line)
      if (!this.hasRoom) return
      this.matches.push({ path, ...line })
    }
  }
}

const charactersOf = ({ content, before, after }: MatchedLine): number =>
  [content, ...before, ...after].reduce((sum, text) => sum + text.length + lineOverhead, 0)
